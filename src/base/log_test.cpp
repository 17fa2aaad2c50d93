#include "base/log.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::base {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Work final : LogSource {
  LogContext log_context() override {
    ++asked;
    return {.request_id = request_id, .client = "192.0.2.1", .trace_id = trace_id};
  }
  std::string request_id{};
  std::string trace_id{};
  int asked = 0;
};

class LogLines : public testing::Test {
 public:
  LogLines() { ConfigureLog(LogLevel::kInfo, LogFormat::kJson, "here"); }
  ~LogLines() override { ConfigureLog(LogLevel::kInfo, LogFormat::kText, ""); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

 protected:
  static std::string Line(LogLevel level = LogLevel::kInfo) {
    testing::internal::CaptureStderr();
    Log(level, "test.event", "Something happened.", {{"count", 1}});
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogLines, ALineBelongsToWhatItsThreadWorksOn) {
  Work work;
  work.request_id = "r-1";
  work.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
  EXPECT_THAT(Line(), Not(HasSubstr("request_id")));
  {
    const LogScope scope(work);
    EXPECT_THAT(Line(), HasSubstr(R"("count":1,"request_id":"r-1","client":"192.0.2.1",)"
                                  R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")"));
    std::thread([] { EXPECT_THAT(Line(), Not(HasSubstr("request_id"))); }).join();
  }
  EXPECT_THAT(Line(), Not(HasSubstr("request_id")));
}

TEST_F(LogLines, TheInnermostScopeCountsAndWhatIsEmptyIsLeftOut) {
  Work outer;
  outer.request_id = "outer";
  Work inner;
  inner.request_id = "inner";
  const LogScope first(outer);
  {
    const LogScope second(inner);
    EXPECT_THAT(Line(), HasSubstr(R"("request_id":"inner")"));
  }
  const std::string line = Line();
  EXPECT_THAT(line, HasSubstr(R"("request_id":"outer")"));
  EXPECT_THAT(line, Not(HasSubstr("trace_id")));
}

TEST_F(LogLines, WhatALineSaysItselfIsNotSaidTwice) {
  Work work;
  work.request_id = "outer";
  const LogScope scope(work);
  testing::internal::CaptureStderr();
  LogInfo("test.event", "Something happened.", {{"request_id", "mine"}});
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_THAT(line, HasSubstr(R"("request_id":"mine","client")"));
  EXPECT_THAT(line, Not(HasSubstr("outer")));
}

TEST_F(LogLines, NobodyIsAskedForALineThatIsNotWritten) {
  Work work;
  const LogScope scope(work);
  EXPECT_EQ(Line(LogLevel::kDebug), "");
  EXPECT_EQ(work.asked, 0);
}

class TextLines : public testing::Test {
 public:
  TextLines() { ConfigureLog(LogLevel::kInfo, LogFormat::kText, ""); }

 protected:
  static std::string Line(std::string_view message, std::string_view value) {
    testing::internal::CaptureStderr();
    LogInfo("test.event", message, {{"who", value}, {"count", 1}});
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(TextLines, NobodyForgesALineOrSpeaksToTheTerminal) {
  const std::string line =
      Line("A receiver said:\nno", "eve\n2026-01-01T00:00:00.000Z error \x1b[2J\u202e\xff");
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(line, HasSubstr("A receiver said:?no"));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  EXPECT_THAT(line, HasSubstr(R"(who="eve?2026-01-01T00:00:00.000Z error ?[2J??")"));
}

TEST_F(TextLines, AValueEndsWhereItEnds) {
  EXPECT_THAT(Line("Hello.", "plain"), HasSubstr("  who=plain  count=1"));
  EXPECT_THAT(Line("Hello.", "a  admin=yes"), HasSubstr(R"(who="a  admin=yes"  count=1)"));
  EXPECT_THAT(Line("Hello.", "a\"  admin"), HasSubstr(R"(who="a\"  admin"  count=1)"));
}

}  // namespace
}  // namespace tenure::base
