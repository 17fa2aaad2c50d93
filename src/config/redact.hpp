#pragma once

#include <string>
#include <string_view>

#include "config/secret.hpp"

namespace tenure::config {

/// A store's address as it may be printed: "postgres://app:***@db:5432/tenure". Hides the password
/// of the user part and the parameters `password` and `sslpassword`. Of an address that is
/// malformed it rather hides too much.
std::string RedactedUrl(std::string_view url);

/// Whether RedactedUrl hides something.
bool HasPassword(std::string_view url);

/// The address with `password` in its user part, percent-encoded.
/// REQUIRES: a postgres:// address without a password.
std::string WithPassword(std::string_view url, const Secret& password);

}  // namespace tenure::config
