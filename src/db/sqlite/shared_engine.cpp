#include "db/sqlite/shared_engine.hpp"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/uuid.hpp"
#include "db/maintenance.hpp"
#include "db/sqlite/connection.hpp"
#include "db/sqlite/file_lock.hpp"
#include "db/sqlite/maintenance.hpp"
#include "db/sqlite/shared_clock.hpp"
#include "db/sqlite/shared_feed.hpp"
#include "db/sqlite/side_file.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db::sqlite {
namespace {

namespace fs = std::filesystem;

/// Another process that migrates is work, not contention.
constexpr int kMaintenanceBusyMs = 30'000;

class SharedEngine final : public Engine {
 public:
  SharedEngine(const fs::path& path, const base::Clock& clock, telemetry::Registry& metrics,
               const Query* on_reboot, std::string boot_id)
      : path_(path.string()),
        side_path_(fs::path(path).concat(".side")),
        lock_path_(fs::path(path).concat(".lock")),
        on_reboot_(on_reboot),
        clock_(clock, std::move(boot_id)),
        metrics_(metrics) {
    const FileLock alone(lock_path_);
    MakeSharedFile(path_);
  }
  ~SharedEngine() override {
    if (last_ms_ > noted_ms_) Note(last_ms_);
  }
  SharedEngine(const SharedEngine&) = delete;
  SharedEngine& operator=(const SharedEngine&) = delete;

  std::string_view name() const override { return "sqlite"; }
  std::string place() const override { return "the file " + path_; }
  int max_write_lanes() const override { return 1; }
  std::string_view TextOf(const Query& query) const override { return query.sqlite; }

  std::unique_ptr<Connection> NewConnection(Access access) override {
    return std::make_unique<SqliteConnection>(
        SqliteConnectionOptions{
            .path = path_,
            .sharing = Sharing::kShared,
            .before_open = [this] { CheckIdentity(); },
            .after_commit = [this](const FileClock::Mark& mark) { NoteMark(mark); }},
        access, clock_, metrics_);
  }

  std::unique_ptr<Maintenance> BeginMaintenance() override {
    DatabasePtr database = OpenDatabase(path_, Access::kWrite, Sharing::kShared);
    sqlite3_busy_timeout(database.get(), kMaintenanceBusyMs);
    return std::make_unique<SqliteMaintenance>(std::move(database), clock_);
  }

  std::unique_ptr<Feed> NewFeed(FeedEvents events) override {
    return std::make_unique<SharedFeed>(path_, std::move(events));
  }

  /// On each open, one process after the other (shared_engine.hpp, Identity).
  void CheckIdentity() override {
    const FileLock alone(lock_path_);
    auto maintenance = BeginMaintenance();
    const std::string stored = maintenance->Run(sql::kReadStore).at(0).at(2);
    const FileClock::Mark last = StoredMark(*maintenance);
    const auto side = SideFile::Read(side_path_, path_);
    const bool is_new = stored.empty();
    const FileClock::Mark mark = CheckBoot(*maintenance, last);
    if (!is_new && !(side && side->IsOf(stored, last.now_ms))) {
      NoteRestore(*maintenance, mark.now_ms, side ? side->incarnation : 0);
      // Committed before the side file agrees with the copy: a crash in between raises it once
      // more, and never forgets that there was a restore.
      maintenance->Commit();
      maintenance.reset();
      maintenance = BeginMaintenance();
    }

    const std::string nonce = base::RandomHex(8);
    const std::int64_t incarnation = std::stoll(maintenance->Run(sql::kReadStore).at(0).at(1));
    SideFile{{is_new ? "-" : stored, nonce}, last.now_ms, incarnation}.Write(side_path_, path_);
    maintenance->Run(sql::kWriteIdentity, {nonce});
    maintenance->Commit();
    SideFile{{nonce}, mark.now_ms, incarnation}.Write(side_path_, path_);
    clock_.Adopt(mark);
    incarnation_ = incarnation;
  }

  std::int64_t incarnation() const override { return incarnation_; }

 private:
  static FileClock::Mark StoredMark(Maintenance& maintenance) {
    const auto row = maintenance.Run(sql::kReadClockMark).at(0);
    return {std::stoll(row[0]), std::stoll(row[1]), row[2]};
  }

  /// The mark that stands for this boot. The first process of a boot ends what the last one left.
  FileClock::Mark CheckBoot(Maintenance& maintenance, const FileClock::Mark& last) {
    const FileClock::Mark mark = clock_.Continue(last);
    if (mark.boot_id == last.boot_id) return mark;
    const std::string now_ms = std::to_string(mark.now_ms);
    maintenance.Run(sql::kBeginBoot, {now_ms, std::to_string(mark.boot_ms), mark.boot_id});
    if (on_reboot_ && !last.boot_id.empty()) maintenance.Run(*on_reboot_, {now_ms});
    return mark;
  }

  /// The clock is this process's only once the transaction is through: so its time comes along.
  static void NoteRestore(Maintenance& maintenance, std::int64_t now_ms, std::int64_t seen) {
    const auto incarnation = RaiseIncarnation(maintenance, now_ms, FreezePolicy(), seen);
    base::LogWarn("store.incarnation",
                  "the file is not the one that was here last (restored from a copy?): new "
                  "incarnation",
                  {{"incarnation", incarnation}});
  }

  /// After a commit, on any lane's thread. Never waits: if somebody opens the file right now, or
  /// notes a mark, ours is noted next time.
  void NoteMark(const FileClock::Mark& mark) {
    last_ms_ = mark.now_ms;
    if (mark.now_ms - noted_ms_ >= kSideFileEveryMs) Note(mark.now_ms);
  }
  void Note(std::int64_t mark_ms) {
    noted_ms_ = mark_ms;
    try {
      const auto alone = FileLock::Try(lock_path_);
      if (!alone) return;
      auto side = SideFile::Read(side_path_, path_);
      // Whoever opens the file next finds out about files that are not the right ones.
      if (!side || !side->is_of_these_files || side->mark_ms >= mark_ms) return;
      side->mark_ms = mark_ms;
      side->Write(side_path_, path_);
    } catch (const std::exception& error) {
      base::LogWarn("store.side_file", error.what());
    }
  }

  const std::string path_;
  const fs::path side_path_;
  const fs::path lock_path_;
  const Query* const on_reboot_;
  SharedClock clock_;
  telemetry::Registry& metrics_;
  std::atomic<std::int64_t> incarnation_{0};
  std::atomic<std::int64_t> last_ms_{0};
  std::atomic<std::int64_t> noted_ms_{0};
};

}  // namespace

std::unique_ptr<Engine> MakeSharedEngine(const fs::path& path, const base::Clock& clock,
                                         telemetry::Registry& metrics, const Query* on_reboot,
                                         std::string boot_id) {
  RefuseShiftedBootTime();
  if (boot_id.empty())
    throw base::UserError(
        "The kernel does not tell when this machine was started "
        "(/proc/sys/kernel/random/boot_id), and leases in a file are counted from there.\n"
        "Mount /proc, or keep the leases in PostgreSQL or a Tenure server.");
  return std::make_unique<SharedEngine>(path, clock, metrics, on_reboot, std::move(boot_id));
}

}  // namespace tenure::db::sqlite
