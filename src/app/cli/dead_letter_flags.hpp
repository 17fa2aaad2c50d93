#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "app/cli/flags.hpp"
#include "app/cli/server_flags.hpp"
#include "base/json_writer.hpp"

namespace tenure::app {

/// Which dead letters a command is about: --topic, --reason.
class DeadLetterFlags {
 public:
  void Declare(Flags& flags);
  /// --id too, for a command that changes them.
  void DeclareWithIds(Flags& flags);
  bool SayWhich() const { return topic_ || reason_ || !ids_.empty(); }

  /// "&topic=orders", for a list.
  std::string Query() const;
  /// The same as fields of a body. Throws UsageError.
  void Write(base::JsonWriter& json) const;

 private:
  std::optional<std::string> topic_;
  std::optional<std::string> reason_;
  std::vector<std::string> ids_;
};

/// Redrives or discards (`action`) page by page until nothing is left, and says how far it is. A
/// dry run asks once: what it does not change it would find for ever. `body` is called with the
/// number of those that are behind it.
int ChangeDeadLetters(ServerFlags& server, Console& console, const std::string& action,
                      bool dry_run, const std::function<std::string(std::int64_t)>& body);

}  // namespace tenure::app
