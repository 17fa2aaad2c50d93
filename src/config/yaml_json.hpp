#pragma once

#include <string>

#include "config/yaml_tree.hpp"

namespace tenure::config {

/// A value as JSON: what is not quoted and reads as a number, `true`, `false` or `null` of JSON is
/// that, everything else a text. What was refused is null; it is among the problems already.
std::string JsonOf(const YamlNode& node);

}  // namespace tenure::config
