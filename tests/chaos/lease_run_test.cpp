// `tenure lease run` while its processes are stopped and killed: its command has written its last
// line before the next holder has the lease. The one exception is documented: when the program and
// its guard are both stopped at once, nobody is left to act.

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "support/process.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::chaos {
namespace {

namespace fs = std::filesystem;

/// The number of `parent`'s child with that name; 0: there is none.
pid_t ChildOf(pid_t parent, const std::string& name) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    // "123 (name) S 1 …"
    const auto open = text.find('('), close = text.rfind(')');
    if (close == std::string::npos || text.substr(open + 1, close - open - 1) != name) continue;
    if (std::stoi(text.substr(close + 4)) == parent) return std::stoi(text);
  }
  return 0;
}

class LeaseRunChaos : public testing::Test {
 protected:
  LeaseRunChaos() {
    run_ = std::make_unique<support::Process>(support::ProcessOptions{
        .argv = {support::TenureBinary(), "lease", "run", name_, "--server", server_.Url(), "--ttl",
                 "3s", "--", "sh", "-c",
                 // The work is done by children: the whole group must end.
                 "(while :; do date +%s%3N; sleep 0.02; done) >> " + lines_.string() + " & wait"}});
    api::Eventually("the command works", [&] { return !LastLine().empty(); });
    guard_ = ChildOf(run_->pid(), "tenure-guard");
  }

  std::string LastLine() const {
    std::ifstream file(lines_);
    std::string line, last;
    while (std::getline(file, line))
      if (!file.eof()) last = line;
    return last;
  }
  /// When the next holder has it, by the store's clock, which is this machine's.
  std::int64_t NextGrantMs() const {
    api::Lease next(api::Api(server_), name_);
    const auto granted = next.Acquire({.ttl_ms = 60'000, .wait_ms = 60'000});
    EXPECT_EQ(granted.status, 200) << granted.body;
    return api::TimeMs(granted.Json()["granted_at"].Text());
  }
  void ExpectTheCommandEndedBeforeTheNextGrant() const {
    const std::int64_t granted_ms = NextGrantMs();
    const std::string last = LastLine();
    EXPECT_LE(std::stoll(last), granted_ms);
    // A second later it has written nothing more: `date` and a look take turns.
    support::RunCommand({.argv = {"sh", "-c", "for i in 1 2 3 4 5; do date; done"}});
    EXPECT_EQ(LastLine(), last);
  }

  const std::string name_ = "run/" + api::NewUuid();
  const support::TempDir dir_;
  const fs::path lines_ = dir_ / "lines";
  const support::ServerProcess server_;
  std::unique_ptr<support::Process> run_;
  pid_t guard_ = 0;
};

TEST_F(LeaseRunChaos, WhenItIsStoppedTheGuardEndsTheCommand) {
  ASSERT_NE(guard_, 0);
  run_->Kill(SIGSTOP);
  ExpectTheCommandEndedBeforeTheNextGrant();
  run_->Kill(SIGCONT);
  EXPECT_EQ(run_->Wait(), 6) << "the lease was lost";
}

TEST_F(LeaseRunChaos, WhenItIsKilledTheCommandAndItsChildrenAreEnded) {
  run_->Kill(SIGKILL);
  ExpectTheCommandEndedBeforeTheNextGrant();
}

TEST_F(LeaseRunChaos, WhenTheGuardIsStoppedTheCommandGoesOnAndEndsAsEver) {
  ASSERT_NE(guard_, 0);
  kill(guard_, SIGSTOP);
  const std::string before = LastLine();
  api::Eventually("the command works", [&] { return LastLine() > before; });
  run_->Kill(SIGTERM);
  EXPECT_EQ(run_->Wait(), 128 + SIGTERM);
  ExpectTheCommandEndedBeforeTheNextGrant();
}

TEST_F(LeaseRunChaos, WhenTheGuardIsKilledTheCommandIsEnded) {
  ASSERT_NE(guard_, 0);
  kill(guard_, SIGKILL);
  ExpectTheCommandEndedBeforeTheNextGrant();
  EXPECT_EQ(run_->Wait(), 128 + SIGTERM);
}

TEST_F(LeaseRunChaos, WhenBothAreKilledTheKernelEndsTheCommandItself) {
  ASSERT_NE(guard_, 0);
  const pid_t command = ChildOf(run_->pid(), "sh");
  ASSERT_NE(command, 0);
  kill(guard_, SIGSTOP);
  run_->Kill(SIGKILL);
  kill(guard_, SIGKILL);
  api::Eventually("the command has ended", [&] { return kill(command, 0) != 0; });
  // What it had started is nobody's any more: only the fence protects against it.
  kill(-command, SIGKILL);
}

}  // namespace
}  // namespace tenure::chaos
