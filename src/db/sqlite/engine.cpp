#include "db/sqlite/engine.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/uuid.hpp"
#include "db/maintenance.hpp"
#include "db/sqlite/connection.hpp"
#include "db/sqlite/maintenance.hpp"
#include "db/sqlite/private_files.hpp"
#include "db/sqlite/side_file.hpp"
#include "db/sqlite/store_clock.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db::sqlite {
namespace {

namespace fs = std::filesystem;

/// Holds flock(2) on a file for as long as it lives; the kernel lets go of it when the process
/// dies.
class DirectoryLock {
 public:
  explicit DirectoryLock(const fs::path& directory) {
    const fs::path path = directory / "tenure.lock";
    descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0)
      throw base::UserError(
          fmt::format("Cannot write in {}: {}.\nChoose another folder with --data.",
                      directory.string(), strerror(errno)));
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      std::string holder;
      std::getline(std::ifstream(path), holder);
      close(descriptor_);
      throw base::UserError(
          fmt::format("The data in {} is already served by another Tenure process{}.\n"
                      "The embedded store belongs to one process: stop that one, choose another "
                      "folder with --data, or use "
                      "PostgreSQL (--store postgres://…) for several processes.",
                      directory.string(), holder.empty() ? "" : " (pid " + holder + ")"));
    }
    const std::string pid = fmt::format("{}\n", getpid());
    if (ftruncate(descriptor_, 0) != 0 ||
        write(descriptor_, pid.data(), pid.size()) != static_cast<ssize_t>(pid.size()))
      base::LogWarn("store.lock", "cannot note the process id in the lock file");
  }
  ~DirectoryLock() { close(descriptor_); }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
};

class SqliteEngine final : public Engine {
 public:
  SqliteEngine(const fs::path& directory, const base::Clock& clock, telemetry::Registry& metrics,
               const FreezePolicy& policy)
      : policy_(policy),
        directory_(directory),
        lock_(directory),
        path_((directory / "tenure.db").string()),
        side_path_(directory / "tenure.side"),
        clock_(clock),
        metrics_(metrics) {
    MakePrivateFile(path_);
  }
  /// A clean stop: a copy that was made before it is older than the side file.
  ~SqliteEngine() override {
    if (last_ms_ > noted_ms_) Note(last_ms_);
  }
  SqliteEngine(const SqliteEngine&) = delete;
  SqliteEngine& operator=(const SqliteEngine&) = delete;

  std::string_view name() const override { return "sqlite"; }
  std::string place() const override { return "the folder " + directory_.string(); }
  int max_write_lanes() const override { return 1; }
  std::string_view TextOf(const Query& query) const override { return query.sqlite; }

  std::unique_ptr<Connection> NewConnection(Access access) override {
    return std::make_unique<SqliteConnection>(
        SqliteConnectionOptions{
            .path = path_, .after_commit = [this](const FileClock::Mark& mark) { NoteMark(mark); }},
        access, clock_, metrics_);
  }
  std::unique_ptr<Maintenance> BeginMaintenance() override {
    return std::make_unique<SqliteMaintenance>(OpenDatabase(path_, Access::kWrite), clock_);
  }
  std::unique_ptr<Feed> NewFeed(FeedEvents) override { return nullptr; }  // nobody else commits

  void CheckIdentity() override {
    auto maintenance = BeginMaintenance();
    const std::string stored = maintenance->Run(sql::kReadStore).at(0).at(2);
    const auto mark = maintenance->Run(sql::kReadClockMark).at(0);
    const std::int64_t mark_ms = std::stoll(mark[0]);
    clock_.Restore({mark_ms, std::stoll(mark[1]), mark[2]});

    const bool is_new = stored.empty();
    const auto side = SideFile::Read(side_path_, path_);
    const bool same = side && side->IsOf(stored, mark_ms);
    if (!is_new && !same) {
      const auto incarnation = RaiseIncarnation(*maintenance, maintenance->NowMs(), policy_,
                                                side ? side->incarnation : 0);
      base::LogWarn(
          "store.incarnation",
          "the database file is not the one that was here last (restored from a copy?): new "
          "incarnation",
          {{"incarnation", incarnation}});
      // Committed before the side file agrees with the copy: a crash in between raises it once
      // more, and never forgets that there was a restore.
      maintenance->Commit();
      maintenance.reset();
      maintenance = BeginMaintenance();
    }
    // Both nonces stand in the side file until the database has the new one: a crash in between is
    // no restore.
    nonce_ = base::RandomHex(8);
    incarnation_ = std::stoll(maintenance->Run(sql::kReadStore, {}).at(0).at(1));
    SideFile{{stored.empty() ? "-" : stored, nonce_}, mark_ms, incarnation_}.Write(side_path_,
                                                                                   path_);
    maintenance->Run(sql::kWriteIdentity, {nonce_});
    maintenance->Commit();
    SideFile{{nonce_}, mark_ms, incarnation_}.Write(side_path_, path_);
    noted_ms_ = mark_ms;
  }

  std::int64_t incarnation() const override { return incarnation_; }

 private:
  /// After a commit, on the writing lane's thread.
  void NoteMark(const FileClock::Mark& mark) {
    if (nonce_.empty()) return;
    last_ms_ = mark.now_ms;
    if (mark.now_ms - noted_ms_ >= kSideFileEveryMs) Note(mark.now_ms);
  }
  void Note(std::int64_t mark_ms) {
    noted_ms_ = mark_ms;
    try {
      SideFile{{nonce_}, mark_ms, incarnation_}.Write(side_path_, path_);
    } catch (const std::exception& error) {
      base::LogWarn("store.side_file", error.what());
    }
  }

  const FreezePolicy policy_;
  const fs::path directory_;
  const DirectoryLock lock_;
  const std::string path_;
  const fs::path side_path_;
  StoreClock clock_;
  telemetry::Registry& metrics_;
  std::int64_t incarnation_ = 0;  // set before lanes exist, constant afterwards
  std::string nonce_;             // set before lanes exist, constant afterwards
  // Used by the one writing lane, and when it is gone:
  std::int64_t last_ms_ = 0;
  std::int64_t noted_ms_ = 0;
};

}  // namespace

std::unique_ptr<Engine> MakeEngine(const fs::path& directory, const base::Clock& clock,
                                   telemetry::Registry& metrics, const FreezePolicy& policy) {
  UsePrivateFolder(directory);
  return std::make_unique<SqliteEngine>(directory, clock, metrics, policy);
}

}  // namespace tenure::db::sqlite
