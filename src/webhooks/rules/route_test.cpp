#include "webhooks/rules/route.hpp"

#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/read_file.hpp"
#include "webhooks/rules/key_text.hpp"

namespace tenure::webhooks::rules {
namespace {

using testing::ElementsAre;

/// The members of a payload that nearly all have.
constexpr std::string_view kAround =
    R"("repository":{"id":186853002,"name":"Hello-World","full_name":"Codertocat/Hello-World",)"
    R"("owner":{"login":"Codertocat","id":21031067}},"sender":{"login":"Codertocat","id":21031067},)"
    R"("installation":{"id":5})";

std::string WithRepository(std::string_view members) {
  return fmt::format("{{{}{}{}}}", members, members.empty() ? "" : ",", kAround);
}

/// A delivery, with all that it refers to.
struct Delivery {
  Delivery(std::string event_name, std::string body, std::string hook_id = "42")
      : name(std::move(event_name)),
        hook(std::move(hook_id)),
        text(std::move(body)),
        origin{.source = "github", .host = "github.com", .hook = hook, .event = name},
        payload(Payload::Parse(text).value()),
        event(origin, payload) {}
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  std::string name, hook, text;
  Origin origin;
  Payload payload;
  Event event;
};

Routing Ordered(Scope scope) {
  Routing routing;
  routing.events.push_back(*EventPattern::Parse("*"));
  routing.scope = scope;
  return routing;
}

struct Row {
  std::string_view event;
  std::string_view members;
  std::string_view key;   ///< below the repository
  std::string_view name;  ///< below the repository's
  bool fell_back = false;
};

/// The routing table, with payloads cut down to what counts. Written by hand, and not from the
/// table in the code.
const Row kRows[] = {
    {"pull_request", R"("action":"opened","number":2,"pull_request":{"number":2})", "thread/2",
     "pull_request/2"},
    {"pull_request_review", R"("action":"submitted","review":{"id":9},"pull_request":{"number":2})",
     "thread/2", "pull_request/2"},
    {"pull_request_review_comment", R"("action":"created","pull_request":{"number":2})", "thread/2",
     "pull_request/2"},
    {"pull_request_review_thread", R"("action":"resolved","pull_request":{"number":2})", "thread/2",
     "pull_request/2"},
    {"issues", R"("action":"opened","issue":{"number":7,"id":444500041})", "thread/7", "issue/7"},
    {"issue_comment", R"("action":"created","issue":{"number":7},"comment":{"id":1})", "thread/7",
     "issue/7"},
    {"issue_comment", R"("action":"created","issue":{"number":2,"pull_request":{"url":"u"}})",
     "thread/2", "pull_request/2"},
    {"sub_issues",
     R"("action":"parent_issue_added","parent_issue":{"number":1},"sub_issue":{"number":3})",
     "thread/3", "issue/3"},
    {"sub_issues",
     R"("action":"sub_issue_added","parent_issue":{"number":1},"sub_issue":{"number":3})",
     "thread/1", "issue/1"},
    {"issue_dependencies",
     R"("action":"blocked_by_added","blocked_issue":{"number":4},"blocking_issue":{"number":5})",
     "thread/4", "issue/4"},
    {"issue_dependencies",
     R"("action":"blocking_added","blocked_issue":{"number":4},"blocking_issue":{"number":5})",
     "thread/5", "issue/5"},
    {"discussion", R"("action":"created","discussion":{"number":90})", "discussion/90",
     "discussion/90"},
    {"discussion_comment", R"("action":"created","discussion":{"number":90},"comment":{"id":3})",
     "discussion/90", "discussion/90"},
    {"deployment", R"("deployment":{"id":145988746,"ref":"main"})", "deployment/145988746",
     "deployment/145988746"},
    {"deployment_status", R"("deployment_status":{"id":1},"deployment":{"id":145988746})",
     "deployment/145988746", "deployment/145988746"},
    {"deployment_protection_rule", R"("action":"requested","deployment":{"id":12})",
     "deployment/12", "deployment/12"},
    {"deployment_review", R"("action":"approved","workflow_run":{"id":77})", "workflow_run/77",
     "workflow_run/77"},
    {"check_run", R"("action":"created","check_run":{"id":128620228,"pull_requests":[]})",
     "check_run/128620228", "check_run/128620228"},
    {"check_suite", R"("action":"completed","check_suite":{"id":118578147})",
     "check_suite/118578147", "check_suite/118578147"},
    {"workflow_run", R"("action":"completed","workflow_run":{"id":289782451})",
     "workflow_run/289782451", "workflow_run/289782451"},
    {"workflow_job", R"("action":"queued","workflow_job":{"id":2832853555,"run_id":940463255})",
     "workflow_run/940463255", "workflow_run/940463255"},
    {"merge_group", R"("action":"checks_requested","merge_group":{"head_sha":"ab12"})",
     "merge_group/ab12", "merge_group/ab12"},
    {"status", R"("sha":"6113728f","state":"success")", "commit/6113728f", "commit/6113728f"},
    {"commit_comment", R"("action":"created","comment":{"commit_id":"6113728f"})",
     "commit/6113728f", "commit/6113728f"},
    {"code_scanning_alert", R"("action":"reopened","alert":{"number":10})",
     "code_scanning_alert/10", "code_scanning_alert/10"},
    {"dependabot_alert", R"("action":"created","alert":{"number":11})", "dependabot_alert/11",
     "dependabot_alert/11"},
    {"secret_scanning_alert", R"("action":"resolved","alert":{"number":12})",
     "secret_scanning_alert/12", "secret_scanning_alert/12"},
    {"secret_scanning_alert_location", R"("action":"created","alert":{"number":12})",
     "secret_scanning_alert/12", "secret_scanning_alert/12"},
    {"push", R"("ref":"refs/heads/main")", "repository", "repository"},
    {"create", R"("ref":"v1","ref_type":"tag")", "repository", "repository"},
    {"delete", R"("ref":"old","ref_type":"branch")", "repository", "repository"},
    {"release", R"("action":"published","release":{"id":17372790})", "repository", "repository"},
    {"star", R"("action":"created")", "repository", "repository"},
    {"label", R"("action":"edited","label":{"id":1})", "repository", "repository"},
    {"workflow_dispatch", R"("inputs":{},"ref":"main")", "repository", "repository"},
    {"team_add", R"("team":{"id":1})", "repository", "repository"},
    // What this version does not know.
    {"brand_new", R"("action":"done","pull_request":{"number":2},"issue":{"number":3})", "thread/2",
     "pull_request/2"},
    {"brand_new", R"("issue":{"number":3})", "thread/3", "issue/3"},
    {"brand_new", R"("discussion":{"number":4})", "discussion/4", "discussion/4"},
    {"brand_new", "", "repository", "repository"},
    // What ought to be there and is not, or is no whole number.
    {"issues", R"("action":"opened")", "repository", "repository", true},
    {"issues", R"("issue":{"number":"7"})", "repository", "repository", true},
    {"issues", R"("issue":{"number":7.5})", "repository", "repository", true},
    {"issues", R"("issue":{"number":-7})", "repository", "repository", true},
    {"status", R"("sha":"")", "repository", "repository", true},
    {"sub_issues", R"("action":"unheard_of","sub_issue":{"number":3})", "repository", "repository",
     true},
};

TEST(Routing, TheTableOfEventsThatHaveARepository) {
  for (const Row& row : kRows) {
    const Delivery delivery(std::string(row.event), WithRepository(row.members));
    const Routed routed = Route(Ordered(Scope::kEntity), delivery.event);
    ASSERT_EQ(routed.places.size(), 1U);
    EXPECT_EQ(routed.places[0].key, fmt::format("github.com/r186853002/{}", row.key))
        << row.event << " " << row.members;
    EXPECT_EQ(routed.places[0].name, fmt::format("Codertocat/Hello-World/{}", row.name));
    EXPECT_EQ(routed.fell_back, row.fell_back) << row.event << " " << row.members;
    EXPECT_EQ(routed.share, "codertocat");

    const Routed by_repository = Route(Ordered(Scope::kRepository), delivery.event);
    EXPECT_EQ(by_repository.places[0].key, "github.com/r186853002/repository");
    EXPECT_EQ(by_repository.places[0].name, "Codertocat/Hello-World/repository");
    EXPECT_FALSE(by_repository.fell_back);
    EXPECT_TRUE(Route(Ordered(Scope::kNone), delivery.event).places[0].key.empty());
  }
}

TEST(Routing, AnEventWithoutARepositoryBelongsToTheFirstThatIsThere) {
  struct Owner {
    std::string_view members, hook, key, name;
  };
  for (const Owner& owner :
       {Owner{R"("organization":{"id":6,"login":"Octo"},"enterprise":{"id":7,"slug":"big"})", "42",
              "o6", "Octo/organization"},
        {R"("enterprise":{"id":7,"slug":"big"},"installation":{"id":5})", "42", "e7",
         "big/enterprise"},
        {R"("installation":{"id":5})", "42", "i5", "installation/5"},
        {R"("x":1)", "42", "h42", "hook/42"},
        {R"("x":1)", "a/b", "ha%2Fb", "hook/a/b"},
        {R"("x":1)", "", "s/github", "source/github"}})
    for (const char* event : {"organization", "membership", "projects_v2_item", "brand_new",
                              "security_advisory", "issues"}) {
      const Delivery delivery(event, fmt::format("{{{}}}", owner.members), std::string(owner.hook));
      for (const Scope scope : {Scope::kEntity, Scope::kRepository}) {
        const Routed routed = Route(Ordered(scope), delivery.event);
        ASSERT_EQ(routed.places.size(), 1U);
        EXPECT_EQ(routed.places[0].key, fmt::format("github.com/{}", owner.key));
        EXPECT_EQ(routed.places[0].name, owner.name);
        EXPECT_FALSE(routed.fell_back);
      }
    }
}

TEST(Routing, EverythingOfOnePullRequestIsOneSessionWhateverItsNames) {
  std::set<std::string> keys;
  for (const Row& row : kRows) {
    if (row.key != "thread/2") continue;
    for (const char* name : {"Codertocat/Hello-World", "codertocat/hello-world", "new/name"}) {
      std::string text = WithRepository(row.members);
      const std::string old = R"("full_name":"Codertocat/Hello-World")";
      text.replace(text.find(old), old.size(), fmt::format(R"("full_name":"{}")", name));
      const Delivery delivery(std::string(row.event), text);
      const Place place = PlaceOfEntity(delivery.event).place;
      keys.insert(place.key);
      EXPECT_TRUE(place.name.starts_with(name)) << "names follow the repository";
    }
  }
  EXPECT_EQ(keys.size(), 1U);
}

TEST(Routing, TwoRepositoriesThatHadOneNameNeverShareASession) {
  const auto of_repository = [](int id) {
    const Delivery delivery("issues", fmt::format(R"({{"issue":{{"number":1}},"repository":)"
                                                  R"({{"id":{},"full_name":"acme/shop"}}}})",
                                                  id));
    return PlaceOfEntity(delivery.event).place;
  };
  EXPECT_NE(of_repository(1).key, of_repository(2).key);
  EXPECT_EQ(of_repository(1).name, of_repository(2).name);
}

TEST(Routing, EveryDocumentedEventHasAKeyInEveryOrderedQueue) {
  Routing custom = Ordered(Scope::kCustom);
  custom.session_key = std::get<KeyTemplate>(KeyTemplate::Parse("{nothing.here}"));
  std::vector<std::string> events = DocumentedEvents();
  events.emplace_back("brand_new");
  for (const std::string& name : events)
    for (const std::string& body : {std::string("{}"), WithRepository(""),
                                    std::string(R"({"repository":{"id":"x"},"action":5})")}) {
      const Delivery delivery(name, body);
      for (const Routing& routing :
           {Ordered(Scope::kEntity), Ordered(Scope::kRepository), custom}) {
        const Routed routed = Route(routing, delivery.event);
        ASSERT_EQ(routed.places.size(), 1U);
        EXPECT_FALSE(routed.places[0].key.empty()) << name << body;
        EXPECT_LE(routed.places[0].key.size(), kMaxKeyBytes);
        EXPECT_FALSE(routed.places[0].name.empty());
        EXPECT_FALSE(routed.places[0].type.empty());
      }
    }
}

TEST(Routing, DifferentThingsOfARepositoryHaveDifferentKeys) {
  std::set<std::string> keys;
  std::size_t things = 0;
  for (const Row& row : kRows) {
    const Delivery delivery(std::string(row.event), WithRepository(row.members));
    keys.insert(PlaceOfEntity(delivery.event).place.key);
  }
  std::set<std::string_view> expected;
  for (const Row& row : kRows) expected.insert(row.key);
  things = expected.size();
  EXPECT_EQ(keys.size(), things);
}

TEST(Routing, ACustomKeyIsMadeOfValuesAndFallsBackWithoutThem) {
  Routing routing = Ordered(Scope::kCustom);
  const auto key_of = [&](std::string_view key_template, const std::string& body) {
    routing.session_key = std::get<KeyTemplate>(KeyTemplate::Parse(key_template));
    const Delivery delivery("deployment", body);
    return Route(routing, delivery.event);
  };
  const std::string body = WithRepository(
      R"("action":"created","deployment":{"id":3,"environment":"Prod/EU","transient":false})");
  EXPECT_EQ(key_of("{repository.id}/{deployment.environment}", body).places[0].key,
            "186853002/Prod%2FEU");
  EXPECT_EQ(key_of("{deployment.transient}", body).places[0].key, "false");
  EXPECT_EQ(key_of("{$event}.x/{$action}", body).places[0].key, "deployment.x/created");
  EXPECT_EQ(key_of("{$repository}/releases", body).places[0].key,
            "github.com/r186853002/repository/releases");
  EXPECT_EQ(key_of("{$entity}/x", body).places[0].key, "github.com/r186853002/deployment/3/x");
  for (const char* missing : {"{no.such}", "{deployment}", "{deployment.environment.x}"}) {
    const Routed routed = key_of(missing, body);
    EXPECT_EQ(routed.places[0].key, "github.com/r186853002/deployment/3") << missing;
    EXPECT_TRUE(routed.fell_back);
  }
}

TEST(Routing, NoTemplateGivesTwoInputsOneKey) {
  Routing routing = Ordered(Scope::kCustom);
  const std::vector<std::string> values = {"a",
                                           "b",
                                           "a/b",
                                           "/",
                                           "a%2Fb",
                                           "%",
                                           "a b",
                                           ".",
                                           "..",
                                           "a-x/",
                                           "-x",
                                           "A",
                                           "\\ud800",
                                           "\\ud801",
                                           std::string(300, 'l'),
                                           std::string(301, 'l')};
  for (const char* text : {"{a}/{b}", "{a}-x/{b}", "pre{a}:{b}post"}) {
    routing.session_key = std::get<KeyTemplate>(KeyTemplate::Parse(text));
    std::set<std::string> keys;
    for (const std::string& left : values)
      for (const std::string& right : values) {
        const Delivery delivery("deployment", fmt::format(R"({{"a":"{}","b":"{}"}})", left, right));
        keys.insert(Route(routing, delivery.event).places[0].key);
      }
    EXPECT_EQ(keys.size(), values.size() * values.size()) << text;
  }
}

TEST(Routing, OfABotsOwnRulesTheFirstThatFitsCounts) {
  Routing routing = Ordered(Scope::kEntity);
  const auto add = [&](std::string_view pattern, std::variant<Kind, KeyTemplate> key) {
    routing.routes.push_back({{*EventPattern::Parse(pattern)}, std::move(key)});
  };
  add("push", Kind::kRef);
  add("create", Kind::kRef);
  add("delete", Kind::kRef);
  add("release.*", std::get<KeyTemplate>(KeyTemplate::Parse("{$repository}/releases")));
  add("release", Kind::kRelease);
  add("issues", Kind::kOrganization);
  add("check_run", Kind::kCheckSuite);
  add("pull_request", Kind::kRepository);
  const auto key_of = [&](const char* event, std::string_view members) {
    const Delivery delivery(event, WithRepository(members));
    const Routed routed = Route(routing, delivery.event);
    return routed.places[0].key.substr(std::string_view("github.com/r186853002/").size()) +
           (routed.fell_back ? " fell back" : "");
  };
  EXPECT_EQ(key_of("push", R"("ref":"refs/heads/feature/a")"), "ref/refs%2Fheads%2Ffeature%2Fa");
  EXPECT_EQ(key_of("create", R"("ref":"feature/a","ref_type":"branch")"),
            "ref/refs%2Fheads%2Ffeature%2Fa");
  EXPECT_EQ(key_of("delete", R"("ref":"v1","ref_type":"tag")"), "ref/refs%2Ftags%2Fv1");
  EXPECT_EQ(key_of("create", R"("ref":null,"ref_type":"repository")"), "repository fell back");
  EXPECT_EQ(key_of("release", R"("action":"published","release":{"id":1})"), "repository/releases");
  EXPECT_EQ(key_of("issues", R"("issue":{"number":1})"), "thread/1 fell back")
      << "there is no organization in it";
  EXPECT_EQ(key_of("check_run", R"("check_run":{"id":1,"check_suite":{"id":2}})"), "check_suite/2");
  EXPECT_EQ(key_of("pull_request", R"("pull_request":{"number":2})"), "repository");
  EXPECT_EQ(key_of("star", ""), "repository");
}

TEST(Routing, ACheckReachesTheSessionOfEachPullRequestThatItLists) {
  Routing routing = Ordered(Scope::kEntity);
  routing.checks_to_pull_requests = true;
  const auto pull_request = [](int number, int repository) {
    return fmt::format(
        R"({{"number":{},"base":{{"repo":{{"id":{},"url":"https://api.github.com/repos/o/n"}}}}}})",
        number, repository);
  };
  for (const char* event : {"check_run", "check_suite", "workflow_run"}) {
    const std::string list = fmt::format("{},{},{},{{}},{}", pull_request(2, 186853002),
                                         pull_request(3, 99), pull_request(2, 186853002), "5");
    const Delivery delivery(
        event, WithRepository(fmt::format(R"("{}":{{"id":1,"pull_requests":[{}]}})", event, list)));
    const Routed routed = Route(routing, delivery.event);
    ASSERT_EQ(routed.places.size(), 2U);
    EXPECT_EQ(routed.places[0].key, "github.com/r186853002/thread/2");
    EXPECT_EQ(routed.places[0].name, "Codertocat/Hello-World/pull_request/2");
    EXPECT_EQ(routed.places[1].key, "github.com/r99/thread/3") << "below its own repository";
    EXPECT_EQ(routed.places[1].name, "o/n/pull_request/3");

    const Delivery none(
        event, WithRepository(fmt::format(R"("{}":{{"id":1,"pull_requests":[]}})", event)));
    EXPECT_EQ(Route(routing, none.event).places[0].key,
              fmt::format("github.com/r186853002/{}/1", event));
  }
}

TEST(Routing, SharesAreTheOwnersOrTheRepositories) {
  const Delivery delivery("push", WithRepository(""));
  Routing routing = Ordered(Scope::kRepository);
  routing.fair_by = FairBy::kRepository;
  EXPECT_EQ(Route(routing, delivery.event).share, "codertocat/hello-world");
  routing.fair_by = FairBy::kNone;
  EXPECT_EQ(Route(routing, delivery.event).share, "");
  const Delivery elsewhere("security_advisory", "{}");
  EXPECT_EQ(Route(Ordered(Scope::kEntity), elsewhere.event).share, "hook/42");
}

TEST(Routing, SaysWhyABotGetsAnEventOrNot) {
  Routing routing = Ordered(Scope::kEntity);
  const Delivery delivery("issues", WithRepository(R"("action":"labeled","issue":{"number":1})"));
  EXPECT_EQ(Matches(routing, delivery.event).why, "the pattern *");
  routing.events.push_back(*EventPattern::Parse("!*.labeled"));
  EXPECT_EQ(Matches(routing, delivery.event).why, "the pattern !*.labeled");
  EXPECT_FALSE(Matches(routing, delivery.event).matches);
  routing.events = {*EventPattern::Parse("push")};
  EXPECT_EQ(Matches(routing, delivery.event).why, "no pattern of its events fits");
  routing.events = {*EventPattern::Parse("issues")};
  routing.repositories = {*RepositoryPattern::Parse("other/*")};
  EXPECT_EQ(Matches(routing, delivery.event).why, "no pattern of its repositories fits");
  routing.repositories.clear();
  routing.sources = {"enterprise"};
  EXPECT_EQ(Matches(routing, delivery.event).why, "the source github is none of its sources");
  routing.events.clear();
  EXPECT_EQ(Matches(routing, delivery.event).why, "it gets no events");
}

TEST(Routing, WhatAnEventIsAboutIsReadOnce) {
  const Delivery moved(
      "issues", WithRepository(R"("action":"opened","issue":{"number":9},"changes":{"old_issue":)"
                               R"({"number":4},"old_repository":{"full_name":"acme/old"}},)"
                               R"("organization":{"id":6,"login":"Octo"})"));
  const Event& event = moved.event;
  EXPECT_EQ(event.action, "opened");
  EXPECT_EQ(event.repository_id, "186853002");
  EXPECT_EQ(event.repository, "Codertocat/Hello-World");
  EXPECT_EQ(event.organization, "Octo");
  EXPECT_EQ(event.sender, "Codertocat");
  EXPECT_EQ(event.installation_id, "5");
  EXPECT_EQ(event.entity.type, "issue");
  EXPECT_EQ(event.entity.id, "9");
  EXPECT_EQ(event.entity.previous, "acme/old/issue/4");
  const Delivery hostile("issues", R"({"action":"a\u001b[2J","repository":{"id":1,"full_name":)"
                                   R"("x\u0000\ud800/y"},"issue":{"number":1}})");
  EXPECT_EQ(hostile.event.action, "a?[2J");
  EXPECT_EQ(PlaceOfEntity(hostile.event).place.key, "github.com/r1/thread/1");
}

TEST(Routing, ThePageOfTheTableIsMadeOfTheTable) {
  const std::string text = RoutingTableText();
  EXPECT_NE(text.find("| `pull_request`, `pull_request_review`, `pull_request_review_comment`, "
                      "`pull_request_review_thread` | `thread/{pull_request.number}` |"),
            std::string::npos)
      << text;
  for (const std::string& event : DocumentedEvents())
    EXPECT_NE(text.find("`" + event + "`"), std::string::npos) << event;
  EXPECT_TRUE(std::is_sorted(DocumentedEvents().begin(), DocumentedEvents().end()))
      << "rows are found by bisection";
  const char* const source = std::getenv("TENURE_SOURCE_DIR");
  if (!source) GTEST_SKIP() << "TENURE_SOURCE_DIR is not set (ctest sets it)";
  const std::string page = base::ReadWholeFile(std::string(source) + "/docs/webhooks.md", 1 << 20);
  EXPECT_NE(page.find(text), std::string::npos) << "the page must have this:\n" << text;
}

}  // namespace
}  // namespace tenure::webhooks::rules
