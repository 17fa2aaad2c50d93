#pragma once

#include <string>

#include "config/table.hpp"

namespace tenure::config {

/// The value of a setting that nobody gave one to, as it is written in the file; may be empty.
std::string DefaultValue(const Setting& setting);

/// docs/reference/settings.md: every setting with its default, bounds, names and advice.
std::string ReferencePage();

/// The settings for the end of `tenure serve --help`: name, default and what it does.
std::string SettingsHelp();

}  // namespace tenure::config
