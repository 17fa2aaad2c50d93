#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/kinds.hpp"

namespace tenure::config {

/// When a changed value counts.
enum class Takes {
  kRestart,       ///< at the next start
  kWhileRunning,  ///< on SIGHUP
};

/// Who must agree on a value.
enum class Scope {
  kProcess,   ///< each process has its own
  kEnsemble,  ///< kept in the store: all processes on one store share it
};

/// What most settings leave as it is.
struct Particulars {
  Takes takes = Takes::kRestart;
  Scope scope = Scope::kProcess;
  std::string_view flag = {};  ///< "--listen"; most have none and are reached by --set
};

/// One line of the table: everything that the program knows about one setting.
struct Setting {
  std::string_view name;  ///< "sessions.duration": the path in tenure.yaml
  Kind kind;
  std::string_view does;         ///< one sentence
  std::string_view change_when;  ///< one sentence: when the default is wrong
  Particulars more = {};
};

/// The one table: parsing, validation, --help, environment names and the reference page are made
/// from it. In the order of the reference page, sections together.
std::span<const Setting> Table();

/// Null when there is no such setting.
const Setting* FindSetting(std::string_view name);

/// What FindSetting says for "store.password" and "store.password_file" alike.
struct Addressed {
  const Setting* setting = nullptr;
  bool by_file = false;  ///< the value is the path of the file that holds the secret
};
Addressed FindAddressed(std::string_view name);

/// Whether settings stand below it: "sessions".
bool IsSection(std::string_view name);

/// The names directly below a section ("" is the root), as they are written in the file.
std::vector<std::string> NamesBelow(std::string_view section);

/// "sessions.duration" -> "TENURE_SESSIONS_DURATION".
std::string EnvironmentName(std::string_view name);

}  // namespace tenure::config
