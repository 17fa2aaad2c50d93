#include "config/differences.hpp"

namespace tenure::config {

std::vector<Change> Differences(const Settings& before, const Settings& after) {
  std::vector<Change> changes;
  for (const Setting& setting : Table())
    if (!SameValue(setting.kind, before, after))
      changes.push_back(
          {&setting, ValueText(setting.kind, before), ValueText(setting.kind, after)});
  return changes;
}

std::vector<NamedValue> SharedValues(const Settings& settings) {
  std::vector<NamedValue> values;
  for (const Setting& setting : Table())
    if (setting.scope == Scope::kEnsemble)
      values.push_back({setting.name, ValueText(setting.kind, settings)});
  return values;
}

}  // namespace tenure::config
