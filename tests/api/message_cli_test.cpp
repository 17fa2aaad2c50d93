// `tenure message …`, `tenure timer …` and `tenure why message` against a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/message_calls.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using testing::HasSubstr;

class MessageCommand : public testing::Test {
 protected:
  ProgramResult Tenure(std::vector<std::string> arguments) {
    return RunTenure(std::move(arguments), {{"TENURE_SERVER", server_.Url()}});
  }
  /// What it prints without its line's end; it must succeed.
  std::string Printed(std::vector<std::string> arguments) {
    const ProgramResult ran = Tenure(std::move(arguments));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out.substr(0, ran.out.find('\n'));
  }
  /// A dead letter of the topic.
  std::string Bury() {
    topic_.Send();
    const Claimed claimed = topic_.Take();
    topic_.Report("fail", claimed, R"(,"error":"hopeless")");
    return claimed.id;
  }

  const support::ServerProcess& server_ = SharedServer(Engine::kSqlite);
  Api api_{server_};
  Topic topic_{api_};
};

TEST_F(MessageCommand, WhatIsEnqueuedIsShownAndExplained) {
  const std::string id = Printed({"message", "enqueue", topic_.name(), R"({"order": 7})",
                                  "--priority", "1", "--dedup-key", "k"});
  EXPECT_EQ(Printed({"message", "enqueue", topic_.name(), "8", "--dedup-key", "k"}), id);
  const std::string shown = Tenure({"message", "show", id}).out;
  EXPECT_THAT(shown, HasSubstr("state         ready\n"));
  EXPECT_THAT(shown, HasSubstr("priority      1\n"));
  EXPECT_THAT(Tenure({"why", "message", id}).out, HasSubstr("nobody has ever asked"));
  EXPECT_EQ(topic_.Take().id, id);
  EXPECT_THAT(Tenure({"why", "message", id}).out, HasSubstr("(claimed): "));
  EXPECT_EQ(Tenure({"message", "show", NewUuid()}).exit_code, 3);
  EXPECT_EQ(Tenure({"why", "message", NewUuid()}).exit_code, 3);
}

TEST_F(MessageCommand, WhatIsNoJsonIsRefusedBeforeTheServerIsAsked) {
  const ProgramResult ran = Tenure({"message", "enqueue", topic_.name(), "hello"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("needs its quotes"));
}

TEST_F(MessageCommand, TopicsAreListedPausedAndResumed) {
  topic_.Send();
  EXPECT_EQ(Printed({"message", "pause", topic_.name(), "--reason", "closed today"}),
            topic_.name() + " is paused");
  EXPECT_THAT(Tenure({"message", "list", "--all"}).out, HasSubstr("closed today"));
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 0U);
  Printed({"message", "resume", topic_.name()});
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 1U);
}

TEST_F(MessageCommand, DeadLettersAreListedRedrivenAndDiscarded) {
  const std::string one = Bury();
  const std::string two = Bury();
  const std::string listed = Tenure({"message", "dead", "--topic", topic_.name()}).out;
  EXPECT_THAT(listed, testing::AllOf(HasSubstr(one), HasSubstr(two), HasSubstr("hopeless")));
  EXPECT_EQ(Printed({"message", "redrive", "--topic", topic_.name(), "--dry-run"}),
            "2 dead letters would be changed");
  EXPECT_EQ(Printed({"message", "redrive", "--id", one, "--rate", "100"}),
            "1 dead letter redriven");
  EXPECT_EQ(topic_.Take(R"(,"wait_ms":60000)").id, one);
  EXPECT_EQ(Tenure({"message", "discard"}).exit_code, 2) << "never all by mistake";
  EXPECT_EQ(Printed({"message", "discard", "--topic", topic_.name()}), "1 dead letter discarded");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + two).status, 404);
}

TEST_F(MessageCommand, ATimerIsSetShownAndCancelled) {
  EXPECT_EQ(Tenure({"timer", "set", topic_.name(), "1"}).exit_code, 2) << "it must say when";
  const std::string id = Printed({"timer", "set", topic_.name(), "1", "--delay", "1h"});
  EXPECT_THAT(Tenure({"timer", "show", id}).out, HasSubstr("fired         false\n"));
  EXPECT_EQ(Printed({"timer", "cancel", id}), "cancelled");
  EXPECT_EQ(Tenure({"timer", "cancel", id}).exit_code, 3);
  EXPECT_EQ(Tenure({"timer", "cancel", topic_.Send()}).exit_code, 4) << "it has fired";
}

}  // namespace
}  // namespace tenure::api
