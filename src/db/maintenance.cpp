#include "db/maintenance.hpp"

#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db {
namespace {

std::map<std::string, std::string> Stored(Maintenance& maintenance) {
  std::map<std::string, std::string> stored;
  for (const auto& row : maintenance.Run(sql::kReadSettings)) stored.emplace(row[0], row[1]);
  return stored;
}

}  // namespace

StoreIdentity ReadIdentity(Engine& engine) {
  const auto row = engine.BeginMaintenance()->Run(sql::kReadStore).at(0);
  return {row[0], std::stoll(row[1])};
}

std::int64_t RaiseIncarnation(Maintenance& maintenance, std::int64_t now_ms,
                              const FreezePolicy& policy, std::int64_t seen) {
  const auto rows = maintenance.Run(
      sql::kNewIncarnation,
      {std::to_string(now_ms), std::to_string(policy.freeze_ms), std::to_string(seen)});
  return std::stoll(rows.at(0).at(0));
}

std::int64_t NewIncarnation(Engine& engine, const FreezePolicy& policy,
                            const NoteIncarnation& note) {
  const auto maintenance = engine.BeginMaintenance();
  const std::int64_t incarnation = RaiseIncarnation(*maintenance, maintenance->NowMs(), policy);
  if (note) note(*maintenance, incarnation);
  maintenance->Commit();
  return incarnation;
}

bool Thaw(Engine& engine, const NoteIncarnation& note) {
  const auto maintenance = engine.BeginMaintenance();
  const auto rows = maintenance->Run(sql::kThaw);
  if (rows.empty()) return false;
  if (note) note(*maintenance, std::stoll(rows.at(0).at(0)));
  maintenance->Commit();
  return true;
}

Grants GrantRights(Engine& engine, const std::string& role,
                   const std::function<void(Maintenance&, const Grants&)>& note) {
  const auto maintenance = engine.BeginMaintenance();
  Grants grants;
  const auto found = maintenance->Run(sql::kFindAppRole, {role});
  if (found.empty()) return grants;
  grants.role_exists = found[0][0] == "1";
  grants.others_have_them = found[0][1] == "1";
  if (!grants.role_exists) return grants;
  for (const auto& row : maintenance->Run(sql::kMissingGrants, {role})) {
    grants.statements.push_back(row[0]);
    maintenance->Execute(row[0]);
  }
  if (note && !grants.statements.empty()) note(*maintenance, grants);
  maintenance->Commit();
  return grants;
}

void AgreeOnSettings(Engine& engine, const SharedSettings& ours) {
  const auto maintenance = engine.BeginMaintenance();
  const auto stored = Stored(*maintenance);
  std::string differences;
  for (const auto& [name, value] : ours) {
    const auto found = stored.find(name);
    if (found == stored.end())
      maintenance->Run(sql::kWriteSetting, {name, value});
    else if (found->second != value)
      differences += fmt::format("  {}: {} in the store, {} here\n", name, found->second, value);
  }
  if (!differences.empty())
    throw base::UserError(fmt::format(
        "These settings must be the same for every process on one store, and this process has "
        "others:\n{}"
        "Start with the store's values, or change them for all with `tenure config apply FILE`.",
        differences));
  maintenance->Commit();
}

SettingChanges ApplySettings(Engine& engine, const SharedSettings& wanted,
                             const std::function<void(Maintenance&, const SettingChanges&)>& note) {
  const auto maintenance = engine.BeginMaintenance();
  const auto stored = Stored(*maintenance);
  SettingChanges changes;
  for (const auto& [name, value] : wanted) {
    const auto found = stored.find(name);
    if (found != stored.end() && found->second == value) continue;
    maintenance->Run(sql::kWriteSetting, {name, value});
    SettingChange& change = changes.emplace_back(SettingChange{.name = name, .to = value});
    if (found != stored.end()) change.from = found->second;
  }
  if (note && !changes.empty()) note(*maintenance, changes);
  maintenance->Commit();
  return changes;
}

}  // namespace tenure::db
