#include "config/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/printable.hpp"

namespace tenure::config {
namespace {

constexpr std::string_view kPrefix = "TENURE_";

// Read by the command line (the first six) and by the tests, whose servers inherit theirs.
constexpr std::array<std::string_view, 10> kNoSettings{
    "TENURE_CONFIG",       "TENURE_SERVER",        "TENURE_TOKEN",  "TENURE_CA_FILE",
    "TENURE_CONTEXT",      "TENURE_LICENSE",       "TENURE_BINARY", "TENURE_SOURCE_DIR",
    "TENURE_POSTGRES_BIN", "TENURE_SUPPORT_VICTIM"};

/// Kubernetes tells every pod about the services of its namespace by such variables; for one called
/// "tenure" or "tenure-…" they look like ours.
bool IsServiceLink(std::string_view name, std::string_view value) {
  if (name.ends_with("_SERVICE_HOST") || name.find("_SERVICE_PORT") != std::string_view::npos)
    return true;
  const bool link =
      value.starts_with("tcp://") || value.starts_with("udp://") || value.starts_with("sctp://");
  if (name.ends_with("_PORT")) return link;
  // TENURE_PORT_8080_TCP and, below it, _PROTO, _PORT and _ADDR.
  const std::size_t port = name.find("_PORT_");
  return port != std::string_view::npos && port + 6 < name.size() && name[port + 6] >= '0' &&
         name[port + 6] <= '9';
}

bool IsOthers(std::string_view name, std::string_view value) {
  return std::ranges::find(kNoSettings, name) != kNoSettings.end() ||
         name.starts_with("TENURE_AZURE_") ||  // of the library's leases in Azure
         name.starts_with("TENURE_TEST_") || IsServiceLink(name, value);
}

struct Variable {
  std::string name;
  Addressed setting;
};

/// Every variable that gives a value.
std::vector<Variable> Variables() {
  std::vector<Variable> variables;
  for (const Setting& setting : Table()) {
    variables.push_back({EnvironmentName(setting.name), {&setting, false}});
    if (IsSecret(setting.kind))
      variables.push_back({EnvironmentName(setting.name) + "_FILE", {&setting, true}});
  }
  return variables;
}

std::string Hint(const std::string& name, const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables) names.push_back(variable.name);
  const std::optional<std::string> near = Nearest(name, names);
  return near ? fmt::format("; did you mean {}?", *near) : "";
}

}  // namespace

Environment CurrentEnvironment() {
  Environment environment;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    environment.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::optional<std::string> FindVariable(const Environment& environment, std::string_view name) {
  for (const auto& [key, value] : environment)
    if (key == name) return value;
  return std::nullopt;
}

std::vector<Given> FromEnvironment(const Environment& environment, Problems& problems) {
  const std::vector<Variable> variables = Variables();
  std::vector<Given> given;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(kPrefix)) continue;
    const auto found = std::ranges::find(variables, name, &Variable::name);
    if (found != variables.end())
      given.push_back(
          {found->setting.setting, found->setting.by_file, value, {Source::kEnvironment, name}});
    else if (!IsOthers(name, value))
      problems.push_back(
          {Printable(name), "there is no setting of that name" + Hint(name, variables)});
  }
  return given;
}

}  // namespace tenure::config
