#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/cli/flags.hpp"

namespace tenure::app {

/// The flags of a command that looks at the usage of some: --user, --tenant, --capacity.
class UsageFilter {
 public:
  void Declare(Flags& flags);
  /// "&userObjectId=…&capacityId=…"; may be empty. Throws UsageError.
  std::string Query() const;

 private:
  std::optional<std::string> user_;
  std::optional<std::string> tenant_;
  std::optional<std::string> capacity_;
};

/// A window's number. Throws UsageError that names `flag`.
std::int64_t WindowFlag(std::string_view flag, std::string_view text);

}  // namespace tenure::app
