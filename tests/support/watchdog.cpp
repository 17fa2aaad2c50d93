// Ends a test program that hangs, and says where: so every wait of every test has a bound, whatever
// it waits for. Part of every test program (tenure_test).
//
// The bound is one of the whole program, and lies before ctest's, which would end the program without
// a word. It begins before the first environment is set up and ends behind the last one.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace {

using SteadyClock = std::chrono::steady_clock;

/// TENURE_TEST_SECONDS is what the program is allowed, or "usual": as long as ./test waits for a
/// program that names nothing of its own (packaging/test-phases.sh). Whoever starts one by hand waits
/// as long as he likes.
std::chrono::seconds Limit() {
  constexpr int kUsual = 240;
  constexpr int kLong = 14'340;
  const char* const configured = std::getenv("TENURE_TEST_SECONDS");
  if (!configured) return std::chrono::seconds(kLong);
  if (std::string_view(configured) != "usual") return std::chrono::seconds(std::atoi(configured));
  return std::chrono::seconds(std::getenv("TENURE_TEST_LONG") ? kLong : kUsual);
}

class Watchdog final : public testing::EmptyTestEventListener {
  void OnTestProgramStart(const testing::UnitTest& /*program*/) override {
    thread_ = std::thread([this, deadline = SteadyClock::now() + Limit()] { Watch(deadline); });
  }
  void OnTestProgramEnd(const testing::UnitTest& /*program*/) override {
    {
      const std::lock_guard lock(mutex_);
      quits_ = true;
      changed_.notify_one();
    }
    thread_.join();
  }
  void OnEnvironmentsSetUpStart(const testing::UnitTest& /*program*/) override {
    NowIn("an environment's SetUp");
  }
  void OnTestSuiteStart(const testing::TestSuite& suite) override {
    NowIn(std::string("SetUpTestSuite of ") + suite.name());
  }
  void OnTestStart(const testing::TestInfo& info) override {
    NowIn(std::string(info.test_suite_name()) + "." + info.name());
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    NowIn(std::string("TearDownTestSuite of ") + info.test_suite_name());
  }
  void OnEnvironmentsTearDownStart(const testing::UnitTest& /*program*/) override {
    NowIn("an environment's TearDown");
  }

  void NowIn(std::string place) {
    const std::lock_guard lock(mutex_);
    place_ = std::move(place);
  }

  void Watch(SteadyClock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_until(lock, deadline, [this] { return quits_; })) return;
    std::fprintf(stderr, "the time of this program is over, and %s hangs\n", place_.c_str());
    std::abort();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::string place_;
  bool quits_ = false;

  std::thread thread_;
};

const bool watches = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Watchdog());
  return true;
}();

}  // namespace

#ifdef __SANITIZE_THREAD__
// The message of an exception that several threads hold is counted by libstdc++, which is not instrumented: the one that
// frees it last looks like a race with those who read it before.
// NOLINTNEXTLINE(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" const char* __tsan_default_suppressions() {
  return "race:std::runtime_error::~runtime_error\n";
}
#endif
