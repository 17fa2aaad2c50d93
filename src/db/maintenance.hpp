#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/engine.hpp"

namespace tenure::db {

/// Who a store is: `installation` never changes; `incarnation` rises when answered commits may have
/// been forgotten (docs/ground.md, Incarnation).
struct StoreIdentity {
  std::string installation;
  std::int64_t incarnation = 0;
};

StoreIdentity ReadIdentity(Engine& engine);

/// Raises the incarnation within a transaction and returns the new one, which is above `seen` too:
/// what is known of before a copy was put back. From `now_ms` on names are frozen.
std::int64_t RaiseIncarnation(Maintenance& maintenance, std::int64_t now_ms,
                              const FreezePolicy& policy, std::int64_t seen = 0);
using NoteIncarnation = std::function<void(Maintenance&, std::int64_t incarnation)>;
/// The same by hand, in a transaction of its own; `note` adds to it (null: nothing).
std::int64_t NewIncarnation(Engine& engine, const FreezePolicy& policy = {},
                            const NoteIncarnation& note = nullptr);
/// Ends the freeze of a new incarnation early. Returns whether anything may have been frozen; only
/// then `note` adds to the transaction.
bool Thaw(Engine& engine, const NoteIncarnation& note = nullptr);

/// What a role was given.
struct Grants {
  bool role_exists = false;
  bool others_have_them = false;          ///< somebody besides the owner may call users' functions
  std::vector<std::string> statements{};  ///< what was missing; now it is given
};

/// Gives a role what users' transactions need: the functions that are made for them, and nothing
/// of the tables. PostgreSQL only. When something was missing, `note` adds to the transaction
/// (null: nothing).
Grants GrantRights(Engine& engine, const std::string& role,
                   const std::function<void(Maintenance&, const Grants&)>& note = nullptr);

using SharedSettings = std::vector<std::pair<std::string, std::string>>;

/// The settings that an ensemble must share: the first process writes them into the store; one that
/// comes with another value is refused with a base::UserError that names both values and says what
/// to do.
void AgreeOnSettings(Engine& engine, const SharedSettings& ours);

struct SettingChange {
  std::string name{};
  std::optional<std::string> from{};  ///< empty: the store had none
  std::string to{};
};
using SettingChanges = std::vector<SettingChange>;

/// `tenure config apply`: makes these the ensemble's. Returns what changed. When something did,
/// `note` adds to the transaction (null: nothing).
SettingChanges ApplySettings(
    Engine& engine, const SharedSettings& wanted,
    const std::function<void(Maintenance&, const SettingChanges&)>& note = nullptr);

}  // namespace tenure::db
