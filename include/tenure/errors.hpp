#pragma once

#include <stdexcept>
#include <string>

namespace tenure {

/// What goes wrong in the library. Ordinary outcomes ("somebody else holds it", "stale") are
/// values; bad arguments are std::invalid_argument.
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, bool outcome_unknown)
      : std::runtime_error(message), outcome_unknown_(outcome_unknown) {}

  /// Whether the store may have done what it was asked to.
  bool outcome_unknown() const { return outcome_unknown_; }

 private:
  bool outcome_unknown_;
};

}  // namespace tenure
