#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/given.hpp"

namespace tenure::config {

/// The values that the configuration file `path` gives. Unknown keys, sections where a value is
/// due and the other way round, secrets, and all that ParseYaml refuses are added to `problems`
/// with file and line.
std::vector<Given> FromFile(const std::string& path, Problems& problems);

/// The same for the content of a file; `file` is only its name.
std::vector<Given> FromYaml(std::string_view text, std::string_view file, Problems& problems);

}  // namespace tenure::config
