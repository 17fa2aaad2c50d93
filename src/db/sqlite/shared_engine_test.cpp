// One file, many processes: what shared_engine.hpp promises.

#include "db/sqlite/shared_engine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <latch>
#include <regex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/error.hpp"
#include "db/migrations.hpp"
#include "db/transaction.hpp"
#include "store/test_store.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::db::sqlite {
namespace {

namespace fs = std::filesystem;
using base::FaultKind;
using support::Process;

const Query kWrite{"test.write", "",
                   "insert into settings (name, value) values (?1, ?2) "
                   "on conflict (name) do update set value = excluded.value"};
const Query kRead{"test.read", "", "select value from settings where name = ?1"};
const Query kOnReboot{"test.on_reboot", "",
                      "update settings set value = 'ended' where name = 'held';"
                      "insert into settings (name, value) values ('rebooted at', ?1)"};

/// A file, a clock, and any number of engines on it as processes would have them.
class SharedStore : public testing::Test {
 protected:
  struct Peer {
    std::unique_ptr<Engine> engine;
    std::unique_ptr<Connection> connection;

    void Write(std::string_view name, std::string_view value) {
      Transaction tx(*connection, Access::kWrite);
      tx.Run(kWrite, name, value);
      tx.Commit();
    }
    std::string Read(std::string_view name) {
      Transaction tx(*connection, Access::kRead);
      const Rows rows = tx.Run(kRead, name);
      return rows.empty() ? "" : std::string(rows[0].Text(0));
    }
    std::int64_t Now() {
      Transaction tx(*connection, Access::kWrite);
      return tx.TakeClock(tx.QueueClock());
    }
  };

  Peer Open(const std::string& boot_id = "boot") {
    Peer peer{MakeSharedEngine(file_, clock_, metrics_, &kOnReboot, boot_id), nullptr};
    Migrate(*peer.engine);
    peer.connection = peer.engine->NewConnection(Access::kWrite);
    peer.connection->Open();
    return peer;
  }
  /// REQUIRES: nobody has the file open, so all of it is in one piece.
  void Copy(const fs::path& from, const fs::path& to) {
    fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  }

  support::TempDir dir_;
  const fs::path file_ = dir_ / "leases.db";
  const fs::path copy_ = dir_ / "copy";
  base::ManualClock clock_{1'766'311'200'000};
  telemetry::Registry metrics_;
};

FaultKind FaultOf(const std::function<void()>& what) {
  try {
    what();
  } catch (const base::Fault& fault) {
    return fault.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST_F(SharedStore, AnotherEngineOfTheProcessLeavesTheFirstOneItsLocks) {
  // Kept open to the end: closing it would drop the very locks.
  const Peer first = Open();
  const int file = open(file_.c_str(), O_RDWR | O_CLOEXEC);
  const auto is_locked = [&] {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0x40000002;  // where SQLite's readers lock
    lock.l_len = 510;
    EXPECT_EQ(fcntl(file, F_OFD_GETLK, &lock), 0);
    return lock.l_type != F_UNLCK;
  };
  ASSERT_TRUE(is_locked());
  const auto second = MakeSharedEngine(file_, clock_, metrics_, &kOnReboot, "boot");
  EXPECT_TRUE(is_locked());
  close(file);
}

TEST_F(SharedStore, WritesOfOneProcessAreSeenByAllAndTimeIsTheSame) {
  Peer one = Open();
  clock_.Advance(1'000);
  clock_.StepWall(3'600'000);
  Peer two = Open();
  one.Write("a", "1");
  EXPECT_EQ(two.Read("a"), "1");
  EXPECT_EQ(one.Now(), 1'766'311'201'000);
  EXPECT_EQ(two.Now(), one.Now());
}

TEST_F(SharedStore, AWriterThatCannotHaveItsTurnIsContended) {
  Peer one = Open();
  Peer two = Open();
  {
    Transaction tx(*one.connection, Access::kWrite);
    EXPECT_EQ(FaultOf([&] { two.Write("a", "2"); }), FaultKind::kContended);
    EXPECT_EQ(two.Read("a"), "") << "who only looks does not wait";
  }
  two.Write("a", "2");
  EXPECT_EQ(one.Read("a"), "2");
}

TEST_F(SharedStore, TheFirstProcessOfABootEndsWhatTheLastBootLeftAndNobodyElse) {
  {
    Peer before = Open("first boot");
    before.Write("held", "by somebody");
    clock_.Advance(60'000);
  }
  clock_.StepWall(-3'600'000);  // the machine's battery is empty
  Peer one = Open("second boot");
  EXPECT_EQ(one.Read("held"), "ended");
  EXPECT_EQ(one.Read("rebooted at"), "1766311200000") << "not behind the last commit";
  one.Write("held", "again");
  clock_.Advance(5);
  Peer two = Open("second boot");
  EXPECT_EQ(two.Read("held"), "again");
  EXPECT_EQ(two.Now(), 1'766'311'200'005);
  EXPECT_EQ(two.engine->incarnation(), 1) << "nothing was forgotten";
}

TEST_F(SharedStore, AFileThatAnotherMachineHasTakenOverIsNotWrittenAnyMore) {
  Peer here = Open("here");
  Peer there = Open("there");
  EXPECT_EQ(FaultOf([&] { here.Write("a", "1"); }), FaultKind::kStoreUnavailable);
  EXPECT_EQ(there.Read("a"), "");
}

TEST_F(SharedStore, OpeningAgainIsNoNewIncarnationAndACopyThatIsPutBackIs) {
  Open().Write("a", "1");
  EXPECT_EQ(Open().engine->incarnation(), 1);
  Copy(file_, copy_);
  EXPECT_EQ(Open().engine->incarnation(), 1);
  Copy(copy_, file_);
  EXPECT_EQ(Open().engine->incarnation(), 2);
  EXPECT_EQ(Open().engine->incarnation(), 2) << "raised once";
  Copy(copy_, file_);
  EXPECT_EQ(Open().engine->incarnation(), 3) << "the same copy once more: it is of 1 itself";
  fs::rename(file_, dir_ / "elsewhere.db");
  fs::rename(dir_ / "elsewhere.db", file_);
  EXPECT_EQ(Open().engine->incarnation(), 3) << "moved and moved back";
  fs::rename(file_, dir_ / "elsewhere.db");
  Copy(dir_ / "elsewhere.db", file_);
  EXPECT_EQ(Open().engine->incarnation(), 4) << "a copy, of whatever moment";
  fs::remove(dir_ / "leases.db.side");
  EXPECT_EQ(Open().engine->incarnation(), 5) << "nobody knows where it was";
}

TEST_F(SharedStore, ACopyFromSecondsAgoIsNoticedByItsMark) {
  Peer one = Open();
  one.Write("a", "1");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, ("vacuum into '" + copy_.string() + "'").c_str(), nullptr,
                         nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  clock_.Advance(6'000);
  one.Write("a", "2");
  one = {};
  Copy(copy_, file_);
  EXPECT_EQ(Open().engine->incarnation(), 2);
}

TEST_F(SharedStore, MarksAreNotedByAllProcessesWithoutPuttingAnOldNonceBack) {
  Peer one = Open();
  Peer two = Open();
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(6'000);
    one.Write("a", std::to_string(i));
    clock_.Advance(6'000);
    two.Write("a", std::to_string(i));
  }
  EXPECT_EQ(Open().engine->incarnation(), 1);
}

TEST_F(SharedStore, AFileThatIsReplacedWhileItIsOpenIsNoticedByItsNextTransaction) {
  Open().Write("a", "old");
  Copy(file_, copy_);
  Peer peer = Open();
  peer.Write("a", "new");
  fs::rename(copy_, file_);
  for (const char* end : {"-wal", "-shm"}) fs::remove(file_.string() + end);
  EXPECT_EQ(FaultOf([&] { peer.Write("b", "lost"); }), FaultKind::kStoreUnavailable);
  EXPECT_FALSE(peer.connection->IsOpen());
  peer.connection->Open();
  EXPECT_EQ(peer.engine->incarnation(), 2);
  EXPECT_EQ(peer.Read("a"), "old");
  fs::remove(file_);
  EXPECT_EQ(FaultOf([&] { peer.Read("a"); }), FaultKind::kStoreUnavailable);
  EXPECT_EQ(FaultOf([&] { peer.connection->Open(); }), FaultKind::kStoreUnavailable);
}

TEST_F(SharedStore, ManyMayOpenANewFileAtOnce) {
  constexpr int kMany = 8;
  std::latch begin(kMany);
  std::vector<std::jthread> openers;
  for (int i = 0; i < kMany; ++i)
    openers.emplace_back([&, i] {
      begin.arrive_and_wait();
      Peer peer = Open();
      EXPECT_EQ(peer.engine->incarnation(), 1);
      peer.Write(std::to_string(i), "was here");
      for (int again = 0; again < 20; ++again) peer.engine->CheckIdentity();
      EXPECT_EQ(peer.engine->incarnation(), 1) << "a change of nonce was taken for a copy";
    });
  openers.clear();
  Peer last = Open();
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(last.Read(std::to_string(i)), "was here");
  EXPECT_EQ(last.engine->incarnation(), 1);
}

// --- real processes

std::unique_ptr<Process> Counter(const fs::path& file, int times) {
  return std::make_unique<Process>(support::ProcessOptions{
      .argv = {std::getenv("TENURE_SHARED_COUNTER"), file.string(), std::to_string(times)}});
}

std::vector<std::int64_t> Counted(const Process& process) {
  std::vector<std::int64_t> numbers;
  const std::string output = process.Output();
  const std::regex line("counted ([0-9]+)\n");
  for (std::sregex_iterator at(output.begin(), output.end(), line), end; at != end; ++at)
    numbers.push_back(std::stoll((*at)[1]));
  return numbers;
}

class SharedProcesses : public SharedStore {
 protected:
  void SetUp() override {
    if (!std::getenv("TENURE_SHARED_COUNTER")) GTEST_SKIP() << "started by ctest only";
  }
  /// Each number once: nobody's commit was undone, and no two read the same.
  void ExpectEachOnce(const std::vector<std::unique_ptr<Process>>& processes, std::int64_t total) {
    std::set<std::int64_t> all;
    for (const auto& process : processes)
      for (const std::int64_t number : Counted(*process))
        EXPECT_TRUE(all.insert(number).second) << number << " was counted twice";
    EXPECT_EQ(static_cast<std::int64_t>(all.size()), total);
    Peer peer{MakeSharedEngine(file_, base::SystemClock(), metrics_), nullptr};
    peer.connection = peer.engine->NewConnection(Access::kWrite);
    peer.connection->Open();
    EXPECT_EQ(peer.engine->incarnation(), 1);
    const std::int64_t counter = std::stoll(peer.Read("counter"));
    EXPECT_GE(counter, total);
    EXPECT_LE(counter, total + killed_) << "one that was killed may have committed and not said so";
  }

  int killed_ = 0;
};

TEST_F(SharedProcesses, CountTogetherWithoutLosingAnythingFromANewFileOn) {
  std::vector<std::unique_ptr<Process>> processes;
  for (int i = 0; i < 4; ++i) processes.push_back(Counter(file_, 100));
  for (const auto& process : processes) EXPECT_EQ(process->Wait(), 0) << process->Output();
  ExpectEachOnce(processes, 400);
}

TEST_F(SharedProcesses, LoseNothingWhenSomeAreKilledInTheMiddle) {
  std::vector<std::unique_ptr<Process>> processes;
  processes.push_back(Counter(file_, 200));
  for (; killed_ < 5; ++killed_) {
    processes.push_back(Counter(file_, 1'000'000));
    for (int line = 0; line <= killed_ * 3; ++line) processes.back()->WaitForLine("counted");
    processes.back()->Kill();
    processes.back()->Wait();
  }
  EXPECT_EQ(processes[0]->Wait(), 0) << processes[0]->Output();
  std::int64_t said = 0;
  for (const auto& process : processes) said += static_cast<std::int64_t>(Counted(*process).size());
  ExpectEachOnce(processes, said);
}

}  // namespace
}  // namespace tenure::db::sqlite
