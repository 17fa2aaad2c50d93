#include "http/loop.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::http {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kSweepMs = 1'000;

class Rounds : public testing::Test {
 protected:
  base::Task Note(std::string what) {
    return [this, what = std::move(what)] { noted_.push_back(what); };
  }
  /// Runs the loop on this thread until a task stops it.
  void RunWith(base::Task first) {
    loop_.Post(std::move(first));
    loop_.Run();
  }

  base::ManualClock clock_{1'700'000'000'000};
  Loop loop_{clock_, kSweepMs};
  std::vector<std::string> noted_;
};

TEST_F(Rounds, WhatIsPutOffComesAfterWhatIsReady) {
  RunWith([this] {
    loop_.Afterwards(Note("put off"));
    // A handler of its own each: what is posted from a handler is not of the same drain.
    loop_.Post([this] {
      Note("ready")();
      loop_.Post([this] {
        Note("ready then")();
        loop_.BeginStop();
      });
    });
  });
  EXPECT_THAT(noted_, ElementsAre("ready", "ready then", "put off"));
}

TEST_F(Rounds, WhatIsPutOffMeanwhileIsOfTheSameRound) {
  RunWith([this] {
    loop_.Afterwards([this] { loop_.Afterwards(Note("put off twice")); });
    loop_.BeginStop();
  });
  EXPECT_THAT(noted_, ElementsAre("put off twice"));
}

TEST_F(Rounds, HaveAnEndAlsoWhenThereIsAlwaysSomethingReady) {
  int handlers = 0;
  std::function<void()> again = [&] {
    ++handlers;
    if (noted_.empty())
      loop_.Post([&] { again(); });
    else
      loop_.BeginStop();
  };
  RunWith([&] {
    loop_.Afterwards(Note("put off"));
    again();
  });
  EXPECT_GT(handlers, 1);
}

TEST_F(Rounds, WithoutARoundNothingIsPutOff) {
  loop_.Afterwards(Note("before"));
  EXPECT_THAT(noted_, ElementsAre("before"));
  RunWith([this] { loop_.BeginStop(); });
  loop_.Afterwards(Note("after"));
  EXPECT_THAT(noted_, ElementsAre("before", "after"));
}

}  // namespace
}  // namespace tenure::http
