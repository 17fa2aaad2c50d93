#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace tenure::db::postgres {

/// What an error of the server means for the transaction, by SQLSTATE.
struct Verdict {
  base::FaultKind kind;
  bool connection_is_lost;  ///< it must not be used again
};

Verdict Judge(std::string_view sqlstate);

}  // namespace tenure::db::postgres
