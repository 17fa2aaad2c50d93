#include "config/load.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/read_file.hpp"
#include "config/coherence.hpp"
#include "config/file.hpp"
#include "config/printable.hpp"
#include "config/suggest.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t kMaxSecretFileBytes = 64 * 1024;

std::string Where(const Flag& flag) {
  return flag.spelling == "--set" ? "--set " + Printable(flag.name) : flag.spelling;
}

std::string UnknownName(const std::string& name) {
  std::vector<std::string> names;
  for (const Setting& setting : Table())
    names.push_back(std::string(setting.name) + (IsSecret(setting.kind) ? "_file" : ""));
  const std::optional<std::string> near = Nearest(name, names);
  return "there is no setting of that name" +
         (near ? fmt::format("; did you mean {}?", *near) : "");
}

std::vector<Given> FromFlags(const std::vector<Flag>& flags, Problems& problems) {
  std::vector<Given> given;
  for (const Flag& flag : flags) {
    const Addressed to = FindAddressed(flag.name);
    if (!to.setting)
      problems.push_back({Where(flag), UnknownName(flag.name)});
    else if (IsSecret(to.setting->kind) && !to.by_file)
      problems.push_back({Where(flag), fmt::format("others can read a command line: give {0}_file, "
                                                   "or set {1}",
                                                   flag.name, EnvironmentName(flag.name))});
    else
      given.push_back({to.setting, to.by_file, flag.value, {Source::kFlag, Where(flag)}});
  }
  return given;
}

/// The value itself: of a secret that is given by file, what stands in that file without the line
/// break at its end.
std::string Content(const Given& given) {
  if (!given.by_file) return given.value;
  std::string content;
  try {
    content = base::ReadWholeFile(given.value, kMaxSecretFileBytes);
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{} {}", Quoted(given.value), error.what()));
  }
  if (content.ends_with('\n')) content.pop_back();
  if (content.ends_with('\r')) content.pop_back();
  return content;
}

/// Applies one source's values over what stands already. Within one source a setting has one value.
void Apply(const std::vector<Given>& values, Loaded& loaded, Problems& problems) {
  std::set<std::string_view> seen;
  for (const Given& given : values) {
    const std::string_view name = given.setting->name;
    if (!seen.insert(name).second) {
      problems.push_back({given.origin.where, fmt::format("{} is given twice, first by {}", name,
                                                          loaded.origins[name].where)});
      continue;
    }
    try {
      if (auto refused = Assign(given.setting->kind, Content(given), loaded.settings))
        problems.push_back(
            {given.origin.where, fmt::format("{}: {}", name, *refused), given.origin.line});
    } catch (const base::UserError& error) {
      problems.push_back(
          {given.origin.where, fmt::format("{}: {}", name, error.what()), given.origin.line});
    }
    loaded.origins[name] = given.origin;
  }
}

}  // namespace

Origin Loaded::OriginOf(const Setting& setting) const {
  const auto found = origins.find(setting.name);
  return found == origins.end() ? Origin{} : found->second;
}

Loaded Load(const Sources& sources) {
  Loaded loaded;
  Problems problems;
  if (sources.file) Apply(FromFile(*sources.file, problems), loaded, problems);
  std::ranges::stable_sort(problems, {}, &Problem::line);  // as somebody goes through the file
  Apply(FromEnvironment(sources.environment, problems), loaded, problems);
  Apply(FromFlags(sources.flags, problems), loaded, problems);
  // Follow-up complaints about a value that was refused already would only confuse.
  if (problems.empty()) MakeCoherent(loaded, problems);
  if (!problems.empty()) throw SettingsError(std::move(problems));
  return loaded;
}

std::optional<std::string> ChooseFile(const std::optional<std::string>& flag,
                                      const Environment& environment) {
  if (flag) return flag;
  if (auto variable = FindVariable(environment, "TENURE_CONFIG")) return variable;
  std::error_code ignored;
  if (std::filesystem::exists("tenure.yaml", ignored)) return "tenure.yaml";
  return std::nullopt;
}

}  // namespace tenure::config
