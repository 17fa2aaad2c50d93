#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tenure::config {

/// A value that must not reach a log, a terminal or an error message. It has no way to be printed;
/// `Reveal` marks the one place that hands it to whom it is for.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string value) : value_(std::move(value)) {}

  bool empty() const { return value_.empty(); }
  const std::string& Reveal() const { return value_; }

  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string value_;
};

/// What is printed in the place of a secret.
inline constexpr std::string_view kHidden = "***";

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
