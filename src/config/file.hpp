#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/given.hpp"
#include "config/settings.hpp"

namespace tenure::config {

using FileJobs = std::optional<std::vector<FileJob>>;

/// The values that the configuration file `path` gives, and into `jobs` those that it lists: `jobs`
/// is a list, or a section of settings that has one as `list`. Unknown keys, sections where a value
/// is due and the other way round, secrets, and all that ParseYaml refuses are added to `problems`
/// with file and line.
std::vector<Given> FromFile(const std::string& path, Problems& problems, FileJobs& jobs);

/// The same for the content of a file; `file` is only its name.
std::vector<Given> FromYaml(std::string_view text, std::string_view file, Problems& problems,
                            FileJobs& jobs);
inline std::vector<Given> FromFile(const std::string& path, Problems& problems) {
  FileJobs ignored;
  return FromFile(path, problems, ignored);
}
inline std::vector<Given> FromYaml(std::string_view text, std::string_view file,
                                   Problems& problems) {
  FileJobs ignored;
  return FromYaml(text, file, problems, ignored);
}

}  // namespace tenure::config
