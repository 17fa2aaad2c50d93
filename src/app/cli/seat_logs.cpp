// `tenure seat prove` and `tenure seat export` on a store, without a server.

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/store_setup.hpp"
#include "db/transaction.hpp"
#include "seats/prove_command.hpp"
#include "seats/reads.hpp"
#include "seats/seat_run.hpp"

namespace tenure::app {
namespace {

constexpr std::int64_t kRowsOfAPage = 1'000;

/// Reads by looks, one per page; nothing is locked, and nothing changes.
class StoredLogs final : public seats::LogSource {
 public:
  explicit StoredLogs(const config::Settings& settings)
      : engine_(OpenEngine(settings, base::SystemClock(), metrics_)),
        connection_(engine_->NewConnection(db::Access::kRead)) {
    RequireMigrated(*engine_);
    connection_->Open();
  }

  void Read(const std::vector<base::Uuid>& licenses, seats::LogReader& reader) override {
    const std::vector<seats::ExportedLicense> all = Licenses();
    for (const base::Uuid& id : licenses)
      if (std::ranges::find(all, id, &seats::ExportedLicense::license) == all.end())
        throw base::UserError(fmt::format("the store has no licence {}", id.ToString()));
    for (const seats::ExportedLicense& license : all) {
      if (!licenses.empty() && std::ranges::find(licenses, license.license) == licenses.end())
        continue;
      seats::ReadPages(license, reader,
                       [&](std::int64_t from) { return Entries(license.license, from); });
    }
  }

 private:
  std::vector<seats::ExportedLicense> Licenses() {
    std::vector<seats::ExportedLicense> all;
    seats::LicensesRequest request;
    while (true) {
      db::Transaction tx(*connection_, db::Access::kRead);
      const auto pending = seats::QueueLicenses(tx, request, kRowsOfAPage, 0);
      std::size_t count = 0;
      for (const auto& row : tx.Take(pending)) {
        const seats::LicenseRow license = seats::ReadLicenseView(row, 0).license;
        request.after = license.id;
        all.push_back({.license = license.id, .head = HeadOf(license)});
        ++count;
      }
      tx.Commit();
      if (count < kRowsOfAPage) return all;
    }
  }

  static seats::LogHead HeadOf(const seats::LicenseRow& license) {
    seats::LogHead head{.seq = license.log_seq};
    std::copy_n(license.log_hash.begin(), std::min(head.hash.size(), license.log_hash.size()),
                head.hash.begin());
    return head;
  }

  std::vector<seats::LogEntry> Entries(const base::Uuid& license, std::int64_t from) {
    db::Transaction tx(*connection_, db::Access::kRead);
    const auto pending = seats::QueueLog(tx, {.license = license, .from = from}, kRowsOfAPage);
    std::vector<seats::LogEntry> entries;
    for (const auto& row : tx.Take(pending)) entries.push_back(seats::ReadLogEntry(row));
    tx.Commit();
    return entries;
  }

  telemetry::Registry metrics_;
  const std::unique_ptr<db::Engine> engine_;
  const std::unique_ptr<db::Connection> connection_;
};

}  // namespace

cli::Commands SeatClientCommands() {
  return cli::Commands{seats::SeatRunCommand()} +
         seats::LogCommands(
             {.flags = StoreFlags(),
              .open = [](const cli::Given& given) -> std::unique_ptr<seats::LogSource> {
                if (!given.Has("--store") && !given.Has("--data")) return nullptr;
                return std::make_unique<StoredLogs>(config::Load(SourcesOf(given)).settings);
              }});
}

}  // namespace tenure::app
