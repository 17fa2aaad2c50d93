#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "config/table.hpp"

namespace tenure::config {

/// One setting that has another value than before.
struct Change {
  const Setting* setting = nullptr;
  std::string from;  ///< as it may be printed: a changed secret reads "***" on both sides
  std::string to;

  bool NeedsRestart() const { return setting->takes == Takes::kRestart; }
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
/// same value ("P30D" and "720h" are both "30d"): what the store keeps and compares (spec 05).
std::vector<NamedValue> SharedValues(const Settings& settings);

}  // namespace tenure::config
