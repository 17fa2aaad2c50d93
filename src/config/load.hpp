#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/environment.hpp"
#include "config/given.hpp"
#include "config/settings.hpp"
#include "config/table.hpp"

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
  std::optional<std::string> file{};
  Environment environment{};
  std::vector<Flag> flags{};
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

/// One setting that has another value than before.
struct Change {
  const Setting* setting = nullptr;
  std::string from;  ///< as it may be printed: a changed secret reads "***" on both sides
  std::string to;

  bool NeedsRestart() const { return setting->more.takes == Takes::kRestart; }
};

/// What a reload finds changed, in the table's order. The caller applies those that do not need a
/// restart and says which ones do.
std::vector<Change> Differences(const Settings& before, const Settings& after);

struct NamedValue {
  std::string_view name;
  std::string value;

  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};

/// The settings on which all processes of one store must agree, as text that reads the same for the
/// same value ("P30D" and "720h" are both "30d"): what the store keeps and compares.
std::vector<NamedValue> SharedValues(const Settings& settings);

}  // namespace tenure::config
