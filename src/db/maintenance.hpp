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
/// been forgotten (spec 05, Incarnation).
struct StoreIdentity {
  std::string installation;
  std::int64_t incarnation = 0;
};

StoreIdentity ReadIdentity(Engine& engine);

/// Raises the incarnation within a transaction, from the store's time on, and returns the new one.
std::int64_t RaiseIncarnation(Maintenance& maintenance);
/// The same by hand, in a transaction of its own; `note` adds to it (null: nothing).
std::int64_t NewIncarnation(Engine& engine,
                            const std::function<void(Maintenance&, std::int64_t)>& note = nullptr);

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
