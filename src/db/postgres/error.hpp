#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace tenure::db::postgres {

/// What an error of the server means for the transaction, by SQLSTATE.
struct ErrorClass {
  base::FaultKind kind;
  bool connection_is_lost;  ///< it must not be used again
};

ErrorClass Classify(std::string_view sqlstate);

/// What a role is told whom the server refused something (42501): `message` is the server's, which
/// names the table or function; added is how the right is given.
std::string DeniedText(std::string_view message, std::string_view role);
}  // namespace tenure::db::postgres
