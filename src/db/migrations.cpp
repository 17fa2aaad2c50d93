#include "db/migrations.hpp"

#include <array>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "base/error.hpp"
#include "db_migrations/queries.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db {
namespace {

constexpr std::string_view kOldestMark = "-- oldest program: ";
constexpr std::string_view kEarlierMark = "-- earlier checksum: ";

/// FNV-1a. It guards against an edited file, not against an enemy.
std::string Checksum(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001B3ULL;
  return fmt::format("{:016x}", hash);
}

/// "1.10.2" as numbers, so that 1.10 comes after 1.9.
std::array<int, 3> ParseVersion(std::string_view text) {
  std::array<int, 3> parts{};
  for (int& part : parts) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
    if (!text.empty() && text.front() == '.') text.remove_prefix(1);
  }
  return parts;
}

/// What stands behind a mark in the text; empty when the mark is not there.
std::string Marked(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + mark.size());
  return std::string(text.substr(0, text.find('\n')));
}

Migration Describe(const Engine& engine, const Query& query) {
  // "db.0002_sessions"
  const std::string_view name = query.name.substr(query.name.find('.') + 1);
  const std::string_view text = engine.TextOf(query);
  TENURE_CHECK(text.starts_with(kOldestMark), "a migration must begin with its oldest program");
  return {.version = ParseVersion(name)[0],
          .name = std::string(name),
          .text = text,
          .checksum = Checksum(text),
          .oldest_program = Marked(text, kOldestMark),
          .earlier_checksum = Marked(text, kEarlierMark)};
}

std::vector<Migration> PendingIn(const Engine& engine, Maintenance& maintenance) {
  std::vector<Migration> pending = MigrationsOf(engine);
  if (maintenance.Run(sql::kHasMigrations).at(0).at(0) == "0") return pending;
  for (const auto& row : maintenance.Run(sql::kAppliedMigrations)) {
    const int version = ParseVersion(row[0])[0];
    if (ParseVersion(row[3]) > ParseVersion(TENURE_VERSION))
      throw base::UserError(fmt::format(
          "The store has migration {} ({}), which needs Tenure {} or newer; this is {}.\n"
          "Install a newer Tenure, or use another store.",
          version, row[1], row[3], TENURE_VERSION));
    std::erase_if(pending, [&](const Migration& known) {
      if (known.version != version) return false;
      if (row[2] != known.checksum && row[2] != known.earlier_checksum)
        throw base::UserError(
            fmt::format("Migration {} of the store is not the one that this program knows "
                        "(checksum {} there, {} here).\n"
                        "The store was set up by another build; use the build that made it.",
                        known.name, row[2], known.checksum));
      return true;
    });
  }
  return pending;
}

}  // namespace

std::vector<Migration> MigrationsOf(const Engine& engine) {
  std::vector<Migration> all;
  for (const Query* query : migrations::All()) all.push_back(Describe(engine, *query));
  return all;
}

std::vector<Migration> PendingMigrations(Engine& engine) {
  return PendingIn(engine, *engine.BeginMaintenance());
}

std::vector<Migration> Migrate(
    Engine& engine, const std::function<void(Maintenance&, const std::vector<Migration>&)>& note) {
  const auto maintenance = engine.BeginMaintenance();
  std::vector<Migration> pending = PendingIn(engine, *maintenance);
  for (const Migration& migration : pending) {
    maintenance->Execute(migration.text);
    maintenance->Run(sql::kRecordMigration, {std::to_string(migration.version), migration.name,
                                             migration.checksum, migration.oldest_program});
  }
  if (note && !pending.empty()) note(*maintenance, pending);
  maintenance->Commit();
  return pending;
}

}  // namespace tenure::db
