#pragma once

#include <string>

namespace tenure::config {

/// docs/reference/settings.md: every setting with its default, bounds, names and advice.
std::string ReferencePage();

/// The settings for the end of `tenure serve --help`: name, default and what it does.
std::string SettingsHelp();

}  // namespace tenure::config
