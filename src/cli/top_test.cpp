#include "cli/top.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Screen kScreen{.columns = 80, .rows = 12};

std::vector<View> Views() {
  return {{.title = "topics",
           .path = "/topics",
           .columns = {{"TOPIC", 8, "name"}, {"READY", 5, "ready"}},
           .kind = "topic"},
          {.title = "tasks", .path = "/tasks", .columns = {{"TASK", 4, "name"}}}};
}

Answer Rows(std::string_view rows) {
  return {.status = 200, .body = R"({"items":[)" + std::string(rows) + "]}"};
}
const Answer kTopics =
    Rows(R"({"name":"mail","ready":2},{"name":"orders","ready":10},{"name":"bills","ready":3})");

constexpr std::string_view kPausable =
    R"({"sentence":"orders is paused.","next":{"text":""},"actions":[)"
    R"({"title":"Resume orders","path":"/topics/orders","method":"PATCH","body":{"paused":false},)"
    R"("danger":false,"allowed":true,"command":"tenure topic resume orders","scope":"s"},)"
    R"({"title":"Discard all","path":"/discard","method":"DELETE","body":{},)"
    R"("danger":true,"allowed":true,"command":"c","scope":"s"},)"
    R"({"title":"Never","path":"/never","method":"POST","body":{},)"
    R"("danger":true,"allowed":false,"command":"c","scope":"messages:write"},)"
    R"({"title":"Redrive","path":"/api/v1/dead-letters/redrive","method":"POST",)"
    R"("body":{"topic":"orders"},"danger":false,"allowed":true,"command":"c","scope":"s"}]})";

class TopModel : public testing::Test {
 protected:
  void Keys(std::initializer_list<const char*> keys, Top& top) {
    for (const char* key : keys) top.Key(key);
  }
  void Type(std::string_view text, Top& top) {
    for (const char c : text) top.Key(std::string_view(&c, 1));
    top.Key("enter");
  }
  std::string Shown(const Top& top) {
    std::string text;
    for (const std::string& line : top.Lines(kScreen)) text += line + "\n";
    return text;
  }
  /// Its topics are there, and "orders" was asked why.
  void AskAboutOrders(Top& top, const char* key) {
    top.Take(*top.Look(), kTopics);
    Keys({"down", key}, top);
    const auto why = top.Wanted();
    ASSERT_TRUE(why);
    EXPECT_EQ(why->path, "/api/v1/why/topic/orders");
    top.Take(*why, {.status = 200, .body = std::string(kPausable)});
  }

  Top top_{Views(), "prod", ""};
};

TEST_F(TopModel, ShowsRowsSortsThemAndKeepsTheSelectedOne) {
  top_.Take(*top_.Look(), kTopics);
  EXPECT_THAT(top_.Lines(kScreen).front(), HasSubstr("tenure prod  [1 topics] 2 tasks"));
  EXPECT_EQ(top_.selected_line(), 2U) << "the first row, below title and heading";
  Keys({"down"}, top_);
  Keys({"s", "s"}, top_);  // by the second column, the largest first
  const std::vector<std::string> lines = top_.Lines(kScreen);
  EXPECT_THAT(lines[1], HasSubstr("READY *"));
  EXPECT_THAT(lines[2], HasSubstr("orders"));
  EXPECT_EQ(top_.selected_line(), 2U) << "orders is still selected";
  top_.Take(*top_.Look(), Rows(R"({"name":"zeta","ready":99},{"name":"orders","ready":1})"));
  EXPECT_THAT(top_.Lines(kScreen)[*top_.selected_line()], HasSubstr("orders"));
}

TEST_F(TopModel, FiltersWhatIsShownAndEscapeShowsAllAgain) {
  top_.Take(*top_.Look(), kTopics);
  Keys({"/"}, top_);
  Type("bil", top_);
  EXPECT_THAT(Shown(top_), HasSubstr("bills"));
  EXPECT_THAT(Shown(top_), Not(HasSubstr("orders")));
  Keys({"/", "backspace", "backspace", "backspace", "x", "enter"}, top_);
  EXPECT_THAT(Shown(top_), HasSubstr("nothing with \"x\""));
  Keys({"escape"}, top_);
  EXPECT_THAT(Shown(top_), HasSubstr("orders"));
}

TEST_F(TopModel, EnterAsksWhyAndNamesTheCommands) {
  AskAboutOrders(top_, "enter");
  const std::string shown = Shown(top_);
  EXPECT_THAT(shown, HasSubstr("orders is paused."));
  EXPECT_THAT(shown, HasSubstr("1. Resume orders"));
  EXPECT_THAT(shown, HasSubstr("$ tenure topic resume orders"));
  EXPECT_THAT(shown, HasSubstr("Never needs the scope messages:write"));
  Keys({"x"}, top_);
  EXPECT_THAT(Shown(top_), HasSubstr("bills")) << "any key goes back";
}

TEST_F(TopModel, AnActWantsAReason) {
  AskAboutOrders(top_, "a");
  Keys({"1", "enter"}, top_);
  EXPECT_FALSE(top_.Wanted()) << "an empty reason is none";
  Type("all is well \"again\"", top_);
  const auto act = top_.Wanted();
  ASSERT_TRUE(act);
  EXPECT_EQ(act->method, http::Method::kPatch);
  EXPECT_EQ(*act->body, R"({"reason":"all is well \"again\"","paused":false})");
  top_.Take(*act, {.status = 409, .body = R"({"detail":"It goes on already."})"});
  EXPECT_THAT(Shown(top_), HasSubstr("It goes on already."));
}

/// Where dead letters are meant, `reason` is of what they died.
TEST_F(TopModel, TheReasonOfARedriveStandsWhereItsRouteHasIt) {
  AskAboutOrders(top_, "a");
  Keys({"3"}, top_);
  Type("the provider is back", top_);
  const auto act = top_.Wanted();
  ASSERT_TRUE(act && act->body);
  EXPECT_EQ(*act->body, R"({"because":"the provider is back","topic":"orders"})");
}

TEST_F(TopModel, WhatCannotBeTakenBackWantsTheNameTyped) {
  AskAboutOrders(top_, "a");
  Keys({"2"}, top_);
  Type("over", top_);
  EXPECT_THAT(Shown(top_), HasSubstr("type orders to do it"));
  Type("order", top_);
  EXPECT_FALSE(top_.Wanted());
  EXPECT_THAT(Shown(top_), HasSubstr("nothing happened"));
}

TEST_F(TopModel, InAProtectedContextItsNameIsTypedForEachAct) {
  Top careful(Views(), "prod", "prod");
  AskAboutOrders(careful, "a");
  Keys({"1"}, careful);
  Type("why not", careful);
  EXPECT_FALSE(careful.Wanted());
  Type("prod", careful);
  EXPECT_TRUE(careful.Wanted());
}

TEST_F(TopModel, PausedItLooksNoMoreAndAnOldAnswerOfAnotherScreenIsDropped) {
  const TopAsk old = *top_.Look();
  Keys({"2"}, top_);
  const auto look = top_.Wanted();
  ASSERT_TRUE(look);
  EXPECT_EQ(look->path, "/tasks");
  top_.Take(old, kTopics);
  EXPECT_THAT(Shown(top_), Not(HasSubstr("orders")));
  top_.Take(*look, Rows(R"({"name":"sweep"})"));
  Keys({"p"}, top_);
  EXPECT_FALSE(top_.Look());
  EXPECT_THAT(Shown(top_), HasSubstr("paused"));
}

TEST_F(TopModel, AwayServersAndRefusalsAreALineAboveWhatWasSeenLast) {
  top_.Take(*top_.Look(), kTopics);
  top_.Away("the server cannot be reached");
  EXPECT_THAT(Shown(top_), HasSubstr("cannot be reached"));
  EXPECT_THAT(Shown(top_), HasSubstr("orders"));
  top_.Take(*top_.Look(), kTopics);
  EXPECT_THAT(Shown(top_), Not(HasSubstr("cannot be reached")));
}

TEST_F(TopModel, FitsEveryScreen) {
  top_.Take(*top_.Look(), kTopics);
  for (const Screen& small : {Screen{.columns = 20, .rows = 5}, Screen{.columns = 1, .rows = 1},
                              Screen{.columns = 300, .rows = 100}})
    for (const char* key : {"enter", "?", "x", "down"}) {
      top_.Key(key);
      EXPECT_LE(top_.Lines(small).size(), small.rows);
      (void)top_.Wanted();
    }
}

}  // namespace
}  // namespace tenure::cli
