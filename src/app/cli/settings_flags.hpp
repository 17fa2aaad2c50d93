#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/flags.hpp"
#include "config/load.hpp"

namespace tenure::app {

/// The flags of a command that runs by the settings: --config, the short ones of the table
/// (--listen, --store, …) and --set for every setting.
class SettingsFlags {
 public:
  void Declare(Flags& flags);

  /// The same without --config, for a command that names its file otherwise.
  void DeclareWithoutFile(Flags& flags);

  /// What was given, with the environment and the file that is in effect.
  config::Sources Sources() const;

 private:
  std::optional<std::string> file_;
  std::map<std::string_view, std::optional<std::string>> by_setting_;  // those with a short flag
  std::vector<std::string> sets_;
};

}  // namespace tenure::app
