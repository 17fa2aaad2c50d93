// `tenure queue …` and `tenure why queue-session` against a running server.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Json;
using testing::AllOf;
using testing::HasSubstr;

class QueueCommand : public testing::Test {
 protected:
  void SetUp() override {
    const auto applied = api_.Call(
        "PUT", "/api/v1/bots",
        fmt::format(R"({{"sources":[],"bots":[{{"name":"{}","events":[],"retry_backoff":"0s",)"
                    R"("ordering_scope":"custom","max_delivery_count":1}}]}})",
                    queue_));
    ASSERT_EQ(applied.status, 200) << applied.body;
  }
  /// "queue" WORD the queue, and what follows.
  ProgramResult Queue(const std::string& word, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"queue", word, queue_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Tenure(std::move(arguments));
  }
  ProgramResult Tenure(std::vector<std::string> arguments) const {
    return RunTenure(std::move(arguments), {{"TENURE_SERVER", server_.Url()}});
  }
  /// What it prints without its line's end; it must succeed.
  std::string Printed(const std::string& word, std::vector<std::string> more) const {
    const ProgramResult ran = Queue(word, std::move(more));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out.substr(0, ran.out.find('\n'));
  }
  void Send(const std::string& key, int count) const {
    for (int i = 1; i <= count; ++i)
      EXPECT_EQ(Printed("send", {key, std::to_string(i)}).size(), 36u) << "the message's id";
  }
  ProgramResult Run(int count, const std::string& script) const {
    return Queue("run", {"--count", std::to_string(count), "--", "sh", "-c", script});
  }
  std::string Why(const std::string& session) const {
    return Tenure({"why", "queue-session", queue_, session}).out;
  }

  const support::ServerProcess& server_ = SharedServer(Engine::kSqlite);
  Api api_{server_};
  const std::string queue_ = "q" + NewUuid();
  const support::TempDir folder_;
};

TEST_F(QueueCommand, Q1_RunHandlesTheMessagesOfASessionInTheirOrder) {
  Send("k", 3);
  const std::string file = folder_ / "handled";
  const ProgramResult ran =
      Run(3, "echo \"$TENURE_SESSION $TENURE_SEQUENCE $TENURE_ATTEMPT $(cat)\" >> " + file);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(support::ReadFile(file), "k 1 1 1\nk 2 1 2\nk 3 1 3\n");
  EXPECT_THAT(Why("k"), HasSubstr("k has no messages that are not done."));
}

TEST_F(QueueCommand, WhatItsCommandExitsWithDecides) {
  Send("k", 2);
  EXPECT_EQ(Run(1, "exit 75").exit_code, 0);
  EXPECT_THAT(Why("k"), HasSubstr("k is ready")) << "nothing was counted";
  EXPECT_EQ(Run(1, "exit 3").exit_code, 0);
  EXPECT_THAT(Why("k"),
              AllOf(HasSubstr("k is parked since "), HasSubstr("the command exited with 3")));
  Printed("resume", {"k", "--reason", "mended"});
  EXPECT_EQ(Run(1, "exit 65").exit_code, 0);
  EXPECT_THAT(Why("k"), HasSubstr("rejected: the command exited with 65"));
}

TEST_F(QueueCommand, AnOperatorLooksAndLetsSessionsGoOn) {
  Send("k", 3);
  Run(1, "exit 1");
  EXPECT_THAT(Tenure({"queue", "list", "--all"}).out, HasSubstr(queue_));
  EXPECT_THAT(Queue("show").out, HasSubstr("parked sessions 1\n"));
  EXPECT_THAT(Queue("sessions", {"--state", "parked"}).out, HasSubstr("parked"));
  EXPECT_THAT(Queue("session", {"k"}).out, HasSubstr("died of       max_delivery_count\n"));
  const std::string id = Json::Parse(Queue("session", {"k", "--json"}).out)["session"].Text();
  EXPECT_THAT(Queue("session", {id}).out, HasSubstr("key           k\n"));
  EXPECT_EQ(Tenure({"why", "queue-session", id}).out, Why("k"));
  EXPECT_THAT(Tenure({"why", "queue", queue_}).out, HasSubstr("One session is parked: "));
  EXPECT_THAT(Queue("peek", {id}).out, AllOf(HasSubstr("parked"), HasSubstr("waiting")));
  EXPECT_THAT(Queue("dead").out, HasSubstr("the command exited with 1"));
  EXPECT_THAT(Queue("causes").out, HasSubstr("the command exited with #"));
  EXPECT_EQ(Printed("resume", {"--error-class", "another", "--reason", "r"}), "0 found, 0 go on");
  EXPECT_EQ(Printed("skip", {"k", "--reason", "r"}),
            "k goes on behind that message: it is ready, and 2 messages wait");
  EXPECT_EQ(Printed("rewind", {"--reason", "r"}), "1 found, 1 sessions go on at them");
  Printed("skip", {"k", "--reason", "r"});
  EXPECT_EQ(Printed("redrive", {"--reason", "r"}), "1 found, 1 appended");
  Run(1, "exit 0");
  EXPECT_EQ(Printed("replay", {"k", "--from", "2", "--reason", "r"}), "1 messages appended");
  EXPECT_EQ(Printed("discard", {"k", "--reason", "r"}),
            "k was emptied: it is idle, and 0 messages wait");
  EXPECT_EQ(Printed("pause", {"--reason", "closed"}), queue_ + " is paused");
  EXPECT_THAT(Tenure({"queue", "list", "--all"}).out, HasSubstr("closed"));
  EXPECT_EQ(Printed("start", {"--reason", "open"}), queue_ + " goes on");
}

TEST_F(QueueCommand, WhatIsNotThereOrNotAsItMustBeHasItsExitCode) {
  Send("k", 1);
  EXPECT_EQ(Queue("session", {"nobody"}).exit_code, 3);
  EXPECT_EQ(Tenure({"why", "queue-session", queue_, NewUuid()}).exit_code, 3);
  EXPECT_EQ(Tenure({"queue", "show", "nobody"}).exit_code, 3);
  EXPECT_EQ(Tenure({"why", "queue-session", NewUuid()}).exit_code, 3);
  EXPECT_EQ(Tenure({"why", "queue-session", queue_}).exit_code, 2) << "without a session";
  EXPECT_EQ(Tenure({"why", "queue", "nobody"}).exit_code, 3);
  EXPECT_EQ(Queue("break", {"k", "--reason", "r"}).exit_code, 4) << "nobody holds it";
  EXPECT_EQ(Queue("skip", {"k"}).exit_code, 2) << "without a reason";
  EXPECT_EQ(Queue("send", {"k", "hello"}).exit_code, 2) << "no JSON";
}

}  // namespace
}  // namespace tenure::api
