#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/given.hpp"

namespace tenure::config {

/// One value of a YAML document with the line on which it starts. Scalars are kept as the text that
/// stands in the file ("off" is not false, "0755" is not octal): their meaning is the table's
/// business.
struct YamlNode {
  enum class Shape {
    kNothing,
    kScalar,
    kList,
    kMapping,
    kRefused,  ///< an alias; it is among the problems already
  };
  struct Entry;

  Shape shape = Shape::kNothing;
  int line = 1;
  std::string scalar;
  bool quoted = false;         ///< of a scalar
  std::vector<Entry> entries;  ///< of a mapping or list, in the order of the file
};

struct YamlNode::Entry {
  std::string key;  ///< empty in a list
  int line = 1;     ///< of the key; in a list of the value
  YamlNode value;
};

/// Reads the one document of `text`. What is wrong is added to `problems` (where = "FILE:LINE"):
/// malformed YAML, repeated keys, keys that are not plain text, aliases, a second document, nesting
/// deeper than any setting has. Never throws for what stands in the file.
YamlNode ParseYaml(std::string_view text, std::string_view file, Problems& problems);

}  // namespace tenure::config
