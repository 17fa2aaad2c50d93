#pragma once

#include <string>
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

}  // namespace tenure::config
