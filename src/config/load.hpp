#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/environment.hpp"
#include "config/given.hpp"
#include "config/problem.hpp"
#include "config/settings.hpp"

namespace tenure::config {

/// A setting on the command line: {"--listen", "listen", "0.0.0.0:80"} or
/// {"--set", "sessions.duration", "30d"}.
struct Flag {
  std::string spelling;
  std::string name;
  std::string value;
};

/// Everything that settings are made from. Kept by `tenure serve`, to load again on SIGHUP.
struct Sources {
  std::optional<std::string> file;
  Environment environment;
  std::vector<Flag> flags;
};

struct Loaded {
  Settings settings;
  std::map<std::string_view, Origin> origins;  ///< by setting; what is missing is the default

  Origin OriginOf(const Setting& setting) const;
};

/// Default, then file, then environment, then flags: the later one wins, but every value must be
/// right wherever it stands. Throws SettingsError with all that is wrong.
Loaded Load(const Sources& sources);

/// The configuration file to use: `flag` (--config), else TENURE_CONFIG, else ./tenure.yaml when
/// there is one, else none.
std::optional<std::string> ChooseFile(const std::optional<std::string>& flag,
                                      const Environment& environment);

}  // namespace tenure::config
