#include "config/reference.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "config/settings.hpp"
#include "config/table.hpp"

namespace tenure::config {
namespace {

constexpr std::string_view kIntroduction =
    R"(<!-- Generated: tenure config reference > docs/reference/settings.md -->
# Settings

Tenure runs without any. What you want otherwise comes from four places; the later one wins:

1. the default,
2. the configuration file: `--config FILE`, else `TENURE_CONFIG`, else `./tenure.yaml` when there is one,
3. environment variables: `sessions.duration` is `TENURE_SESSIONS_DURATION`,
4. flags: `--listen`, `--data`, `--store`, `--workers` and `--ops-listen`, and every setting as `--set NAME=VALUE`.

```yaml
# tenure.yaml
listen: 127.0.0.1:8080
store:
  url: postgres://tenure@db.internal/tenure
  password_file: /run/secrets/tenure-db
sessions:
  duration: 30d
log:
  level: info
```

Names that do not exist, values out of bounds and repeated keys are refused, all at once, with file and line,
variable or flag. `tenure config check FILE` does that, and looks at the addresses, certificate and keys that the file names; `tenure config show` prints each value and where
it came from.

- **Durations** are `250ms`, `30s`, `5m`, `1h30m`, `30d`, or ISO 8601 (`PT5M`, `P30D`). **Sizes** are `512B`,
  `64KiB`, `1MiB`, `2GiB`. **Switches** are `on` or `off` (`true` and `false` are read too). **Lists** have commas
  between their items. **Rates** are `100/s`, `6000/min`, `10/h` or `off`.
- **Secrets** stand neither in the file nor on the command line: give the path of a file that holds the secret with
  `_file` appended to the name (`store.password_file`, `TENURE_STORE_PASSWORD_FILE`), or the secret itself in the
  environment (`TENURE_STORE_PASSWORD`). They are never printed.
- **While running**: SIGHUP reads the file again. What can change then says so below; for the rest the server names
  the settings that wait for a restart.
- **Shared** settings are kept in the store by the first process. A process that starts with another value refuses,
  until `tenure config apply FILE` has changed them for all.
- `TENURE_SERVER`, `TENURE_TOKEN`, `TENURE_CA_FILE`, `TENURE_CONTEXT` (for the commands that talk to a server) and
  `TENURE_CONFIG` are no settings.
  What Kubernetes sets for a service called `tenure` (`TENURE_SERVICE_HOST`, `TENURE_PORT_…`) is left alone; any
  other `TENURE_` variable that names no setting is refused.
)";

std::string_view SectionOf(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

std::string DefaultText(const Setting& setting) {
  const std::string text = DefaultValue(setting);
  return text.empty() ? "empty" : fmt::format("`{}`", text);
}

std::string Names(const Setting& setting) {
  std::string names = fmt::format("`{}`", EnvironmentName(setting.name));
  if (IsSecret(setting.kind))
    names += fmt::format(" or, by file, `{}_FILE`, `{}_file`", EnvironmentName(setting.name),
                         setting.name);
  if (!setting.more.flag.empty()) names += fmt::format(", `{}`", setting.more.flag);
  return names;
}

std::string Entry(const Setting& setting) {
  std::string text = fmt::format("\n### {}\n{}\n\n*When to change it:* {}\n\n", setting.name,
                                 setting.does, setting.change_when);
  text += fmt::format("- default {}; takes {}\n", DefaultText(setting), Accepts(setting.kind));
  text += fmt::format("- {}\n", Names(setting));
  text += setting.more.takes == Takes::kWhileRunning ? "- can change while running (SIGHUP)\n"
                                                     : "- a change needs a restart\n";
  if (setting.more.scope == Scope::kEnsemble) text += "- shared by all processes of one store\n";
  return text;
}

/// Appends `text` broken at spaces, with `indent` columns before each line but the first.
void AppendWrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t width) {
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos || end == 0)
      end = std::min(text.find(' ', width), text.size());
    out.append(text.substr(0, end)).append("\n").append(indent, ' ');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out.append(text).append("\n");
}

}  // namespace

std::string DefaultValue(const Setting& setting) {
  static const Settings defaults;
  return ValueText(setting.kind, defaults);
}

std::string ReferencePage() {
  std::string page(kIntroduction);
  std::string_view section = "none";
  for (const Setting& setting : Table()) {
    if (SectionOf(setting.name) != section) {
      section = SectionOf(setting.name);
      page += section.empty() ? "\n## The process\n" : fmt::format("\n## {}\n", section);
    }
    page += Entry(setting);
  }
  return page;
}

std::string SettingsHelp() {
  constexpr std::size_t kNameColumns = 31;
  constexpr std::size_t kTextColumns = 68;
  std::string help;
  for (const Setting& setting : Table()) {
    help += fmt::format("  {:<{}}", setting.name, kNameColumns - 2);
    const std::string value = DefaultValue(setting);
    AppendWrapped(help, fmt::format("{} [{}]", setting.does, value.empty() ? "empty" : value),
                  kNameColumns, kTextColumns);
  }
  return help;
}

}  // namespace tenure::config
