#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace tenure::db::postgres {

/// What an error of the server means for the transaction, by SQLSTATE.
struct ErrorClass {
  base::FaultKind kind;
  bool connection_is_lost;  ///< it must not be used again
  bool is_denied = false;   ///< the role lacks a right
};

ErrorClass Classify(std::string_view sqlstate);

/// What a role is told whom the server refused something (42501): `message` is the server's, which
/// names the table or function; added is how the right is given.
std::string DeniedText(std::string_view message, std::string_view role);
/// Whether a fault's text is of DeniedText: a fault says by its text alone that it is a denial.
bool IsDenied(std::string_view fault_text);

}  // namespace tenure::db::postgres
