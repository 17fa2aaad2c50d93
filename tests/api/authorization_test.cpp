// A1: nobody reads or changes what belongs to another tenant. Every route of the server is held to
// its rule, by going through the router: a route that is added later is tested without a word here,
// except for what a stranger sees of it.
#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/guarded.hpp"
#include "api/openapi.hpp"
#include "api/sample_requests.hpp"
#include "app/service.hpp"
#include "base/base64.hpp"

namespace tenure::api {
namespace {

using auth::Algorithm;
using auth::Signer;
using support::HttpResponse;
using support::Json;
using testing::HasSubstr;

class Authorization : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new GuardedServer(); }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  static std::string NameOf(const http::Route& route) {
    return std::string(ToText(route.method)) + " " + route.pattern;
  }
  /// The route's path with something in place of its placeholders.
  static std::string TargetOf(const http::Route& route) {
    std::string target = route.pattern;
    for (std::size_t at = target.find('{'); at != std::string::npos; at = target.find('{'))
      target.replace(at, target.find('}') - at + 1, "1");
    return target;
  }
  static bool AsksForAToken(const http::Route& route) {
    return route.scope != http::kPublic && route.scope != http::kSigned;
  }
  static HttpResponse Ask(const http::Route& route, const support::HttpHeaders& headers) {
    const bool write = route.method != http::Method::kGet && route.method != http::Method::kDelete;
    return support::Call(server_->port(), ToText(route.method), TargetOf(route), write ? "{}" : "",
                         headers);
  }
  static HttpResponse AskWith(const http::Route& route, const std::string& token) {
    return Ask(route, {{"Authorization", "Bearer " + token}});
  }
  static std::string Challenge(const HttpResponse& response) {
    return response.FindHeader("WWW-Authenticate").value_or("");
  }

  static GuardedServer* server_;
};
GuardedServer* Authorization::server_ = nullptr;

TEST_F(Authorization, EveryRouteHasARuleAndOnlyTheseAreOpen) {
  std::set<std::string> open, with_signature;
  for (const http::Route& route : server_->routes()) {
    if (route.scope == http::kPublic)
      open.insert(route.pattern);
    else if (route.scope == http::kAnyToken)
      EXPECT_TRUE(route.pattern == "/api/v1/me" || route.pattern == "/api/v1/search")
          << NameOf(route);
    else if (route.scope == http::kSigned)
      with_signature.insert(route.pattern);
    else
      EXPECT_NE(std::find(std::begin(kAllScopes), std::end(kAllScopes), route.scope),
                std::end(kAllScopes))
          << NameOf(route) << " needs " << route.scope;
  }
  EXPECT_EQ(open, (std::set<std::string>{"/livez", "/readyz", "/openapi.json"}));
  EXPECT_EQ(with_signature,
            (std::set<std::string>{"/webhooks/github", "/webhooks/github/{source}"}));
}

TEST_F(Authorization, WithoutATokenEveryOtherRouteAsksForOne) {
  for (const http::Route& route : server_->routes()) {
    if (route.scope == http::kPublic) {
      EXPECT_EQ(Ask(route, {}).status, 200) << NameOf(route);
      EXPECT_EQ(AskWith(route, "nonsense").status, 200) << NameOf(route);
      continue;
    }
    if (route.scope == http::kSigned) {
      EXPECT_EQ(Ask(route, {}).status, 404) << "there is no source, and a token opens nothing";
      EXPECT_EQ(AskWith(route, "nonsense").status, 404) << NameOf(route);
      continue;
    }
    for (const support::HttpHeaders& headers : std::vector<support::HttpHeaders>{
             {}, {{"Authorization", "Basic YTpi"}}, {{"Cookie", "token=x"}}}) {
      const HttpResponse response = Ask(route, headers);
      ExpectProblem(response, 401);
      EXPECT_EQ(ProblemType(response), "unauthenticated") << NameOf(route);
      EXPECT_EQ(Challenge(response), R"(Bearer realm="tenure")") << NameOf(route);
    }
  }
}

TEST_F(Authorization, WhatIsOpenTellsNothing) {
  for (const char* path : {"/livez", "/readyz"})
    EXPECT_EQ(support::Call(server_->port(), "GET", path).body, R"({"status":"ok"})") << path;
}

TEST_F(Authorization, ABadTokenIs401OnEveryRoute) {
  const std::string tenant = NewUuid();
  // Signed with HS256, the public key as secret, under the public key's own name.
  const std::string confused =
      Signer::Parse(R"({"kty":"oct","kid":")" + server_->signer().kid() + R"(","k":")" +
                    base::EncodeBase64Url(server_->signer().public_jwk()) + R"("})")
          .Sign(Says{.tenant = tenant}.Claims());
  const std::map<std::string, std::string> bad{
      {"expired", server_->Token({.tenant = tenant, .lives_s = -31})},
      {"of another audience", server_->Token({.tenant = tenant, .audience = "other"})},
      {"of another issuer", server_->Token({.tenant = tenant, .issuer = "https://evil.example"})},
      {"without a tenant", server_->Token({.tenant = ""})},
      {"without a person", server_->Token({.tenant = tenant, .person = ""})},
      {"of another algorithm", confused},
      {"of another key", Signer::Generate(Algorithm::kEs256).Sign(Says{.tenant = tenant}.Claims())},
      {"unsigned", "eyJhbGciOiJub25lIn0.e30."},
  };
  for (const http::Route& route : server_->routes()) {
    if (!AsksForAToken(route)) continue;
    for (const auto& [what, token] : bad) {
      const HttpResponse response = AskWith(route, token);
      ExpectProblem(response, 401);
      EXPECT_EQ(ProblemType(response), "invalid-token") << NameOf(route) << ": " << what;
      EXPECT_THAT(Challenge(response), HasSubstr(R"(error="invalid_token")"));
    }
  }
}

TEST_F(Authorization, WithEveryScopeButItsOwnARouteIsForbidden) {
  for (const http::Route& route : server_->routes()) {
    if (!AsksForAToken(route) || route.scope == http::kAnyToken) continue;
    const HttpResponse response =
        AskWith(route, server_->Token({.tenant = NewUuid(), .scopes = EveryScopeBut(route.scope)}));
    ExpectProblem(response, 403);
    EXPECT_EQ(ProblemType(response), "forbidden") << NameOf(route);
    EXPECT_THAT(Challenge(response), HasSubstr("scope=\"" + route.scope + "\"")) << NameOf(route);
  }
}

TEST_F(Authorization, WithItsScopeAloneARouteIsNotForbidden) {
  for (const http::Route& route : server_->routes()) {
    if (!AsksForAToken(route)) continue;
    // A subscription hands messages out: it asks for their scope, too.
    const std::string more = route.operation == "putSubscription" ? " messages:write" : "";
    const int status =
        AskWith(route, server_->Token({.tenant = NewUuid(), .scopes = route.scope + more})).status;
    EXPECT_TRUE(status != 401 && status != 403) << NameOf(route) << " -> " << status;
  }
}

/// What a stranger is told who sends, letter by letter, what the owner could send.
enum class Sees {
  kNothing,    ///< 404: it is not there
  kEmptyList,  ///< 200, and nothing of it is another's
  kOwnWorld,   ///< 2xx: the same name in the stranger's own tenant, or nothing at all
  kLost,       ///< 409: not the stranger's grant
  kRefused,    ///< 403: names another tenant
  kEverybodys  ///< not a tenant's: the server's own
};

const std::map<std::string, Sees>& Strangers() {
  static const std::map<std::string, Sees> table{
      {"putSession", Sees::kRefused},
      {"listSessions", Sees::kEmptyList},
      {"getSession", Sees::kNothing},
      {"deleteSession", Sees::kNothing},
      {"listLeases", Sees::kEmptyList},
      {"getLease", Sees::kNothing},
      {"acquireLease", Sees::kOwnWorld},
      {"renewLease", Sees::kLost},
      {"renewLeases", Sees::kOwnWorld},
      {"releaseLease", Sees::kOwnWorld},
      {"breakLease", Sees::kNothing},
      {"getMe", Sees::kEverybodys},
      {"getOverview", Sees::kEverybodys},
      {"listInstances", Sees::kEverybodys},
      {"getSettings", Sees::kEverybodys},
      {"search", Sees::kEmptyList},
      {"whyLease", Sees::kNothing},
      {"whyMessage", Sees::kNothing},
      {"whyTopic", Sees::kNothing},
      {"whyJob", Sees::kNothing},
      {"whySubscription", Sees::kNothing},
      {"whySeat", Sees::kNothing},
      {"whyLicense", Sees::kNothing},
      {"whySession", Sees::kNothing},
      {"whyTask", Sees::kNothing},
      {"whyQueue", Sees::kNothing},
      {"whyQueueSession", Sees::kNothing},
      {"whyInbox", Sees::kNothing},
      {"whyUsage", Sees::kEverybodys},
      {"whyInstance", Sees::kEverybodys},
      {"listTasks", Sees::kEverybodys},
      {"runTask", Sees::kNothing},
      {"claimTask", Sees::kOwnWorld},
      {"finishTask", Sees::kOwnWorld},
      {"enqueueMessages", Sees::kOwnWorld},
      {"claimMessages", Sees::kOwnWorld},
      {"acknowledgeMessages", Sees::kOwnWorld},
      {"extendMessages", Sees::kOwnWorld},
      {"abandonMessages", Sees::kOwnWorld},
      {"failMessages", Sees::kOwnWorld},
      {"getMessage", Sees::kNothing},
      {"listMessages", Sees::kEmptyList},
      {"listTimers", Sees::kEmptyList},
      {"setTimers", Sees::kOwnWorld},
      {"getTimer", Sees::kNothing},
      {"cancelTimer", Sees::kNothing},
      {"listTopics", Sees::kEmptyList},
      {"getTopic", Sees::kNothing},
      {"changeTopic", Sees::kOwnWorld},
      {"listJobs", Sees::kEmptyList},
      {"previewJob", Sees::kOwnWorld},
      {"putJob", Sees::kOwnWorld},
      {"getJob", Sees::kNothing},
      {"deleteJob", Sees::kNothing},
      {"triggerJob", Sees::kNothing},
      {"backfillJob", Sees::kNothing},
      {"pauseJob", Sees::kNothing},
      {"resumeJob", Sees::kNothing},
      {"listJobRuns", Sees::kNothing},
      {"listDeadLetters", Sees::kEmptyList},
      {"getDeadLetter", Sees::kNothing},
      {"listDeadLetterGroups", Sees::kEmptyList},
      {"redriveDeadLetters", Sees::kOwnWorld},
      {"discardDeadLetters", Sees::kOwnWorld},
      {"beginInbox", Sees::kOwnWorld},
      {"completeInbox", Sees::kNothing},
      {"failInbox", Sees::kNothing},
      {"getInboxEntry", Sees::kNothing},
      {"listInbox", Sees::kEmptyList},
      {"sendToQueue", Sees::kNothing},
      {"acceptSessions", Sees::kNothing},
      {"renewSessions", Sees::kNothing},
      {"completeMessages", Sees::kNothing},
      {"receiveMessages", Sees::kNothing},
      {"abandonSessions", Sees::kNothing},
      {"deadLetterSessions", Sees::kNothing},
      {"releaseSessions", Sees::kNothing},
      {"transferSessions", Sees::kNothing},
      {"getSessionState", Sees::kNothing},
      {"putSessionState", Sees::kNothing},
      {"listQueues", Sees::kEmptyList},
      {"getQueue", Sees::kNothing},
      {"pauseQueue", Sees::kNothing},
      {"dropQueue", Sees::kNothing},
      {"listQueueSessions", Sees::kNothing},
      {"getQueueSession", Sees::kNothing},
      {"peekMessages", Sees::kNothing},
      {"resumeSession", Sees::kNothing},
      {"skipMessage", Sees::kNothing},
      {"breakSession", Sees::kNothing},
      {"discardMessages", Sees::kNothing},
      {"listQueueLetters", Sees::kNothing},
      {"sumQueueLetters", Sees::kNothing},
      {"resumeSessions", Sees::kNothing},
      {"replayQueueLetters", Sees::kNothing},
      {"discardQueueLetters", Sees::kNothing},
      {"replaySession", Sees::kNothing},
      {"getBots", Sees::kOwnWorld},
      {"putBots", Sees::kOwnWorld},
      {"listWebhookSources", Sees::kEmptyList},
      {"listWebhookEvents", Sees::kEmptyList},
      {"getWebhookEvent", Sees::kNothing},
      {"getWebhookPayload", Sees::kNothing},
      {"replayEvents", Sees::kNothing},
      {"explainWebhook", Sees::kOwnWorld},
      {"acquireSeat", Sees::kNothing},
      {"heartbeatSeats", Sees::kOwnWorld},
      {"heartbeatSeat", Sees::kNothing},
      {"releaseSeat", Sees::kNothing},
      {"getSeatTicket", Sees::kNothing},
      {"leaveSeatTicket", Sees::kNothing},
      {"createLicense", Sees::kOwnWorld},
      {"listLicenses", Sees::kEmptyList},
      {"listSubscriptions", Sees::kEmptyList},
      {"putSubscription", Sees::kRefused},
      {"getSubscription", Sees::kNothing},
      {"deleteSubscription", Sees::kNothing},
      {"rotateSubscriptionSecret", Sees::kNothing},
      {"testSubscription", Sees::kNothing},
      {"getLicense", Sees::kNothing},
      {"changeLicense", Sees::kNothing},
      {"revokeLicense", Sees::kNothing},
      {"rotateLicenseKey", Sees::kNothing},
      {"listSeatSessions", Sees::kNothing},
      {"listSeatTickets", Sees::kNothing},
      {"listSeatLog", Sees::kNothing},
      {"getSeatSession", Sees::kNothing},
      {"revokeSeat", Sees::kNothing},
      {"removeSeatTicket", Sees::kNothing},
      // One for all tenants.
      {"getSeatLedger", Sees::kEverybodys},
      {"retireSeatLedger", Sees::kEverybodys},
      {"listOrganizations", Sees::kEmptyList},
      {"getOrganization", Sees::kNothing},
      // With `admin` any organisation may be named.
      {"createOrganization", Sees::kEverybodys},
      {"changeOrganization", Sees::kEverybodys},
      // Windows, factors and delivery are one for all tenants; records and totals have a test of
      // their own.
      {"listUsageWindows", Sees::kEverybodys},
      {"listUsageRecords", Sees::kEverybodys},
      {"getUsageTotals", Sees::kEverybodys},
      {"listUsageFactors", Sees::kEverybodys},
      {"setUsageFactor", Sees::kEverybodys},
      {"sendUsage", Sees::kEverybodys},
      {"listRefusedUsage", Sees::kEverybodys},
      {"resendRefusedUsage", Sees::kEverybodys},
      {"listAudit", Sees::kEverybodys},
      {"getHealth", Sees::kEverybodys},
      {"getMetrics", Sees::kEverybodys},
  };
  return table;
}

void ExpectSeen(Sees sees, const HttpResponse& response, const std::string& what) {
  switch (sees) {
    case Sees::kNothing:
      EXPECT_EQ(response.status, 404) << what;
      break;
    case Sees::kEmptyList:
      ASSERT_EQ(response.status, 200) << what;
      EXPECT_EQ(response.Json()["items"].Size(), 0U) << what << ": " << response.body;
      break;
    case Sees::kOwnWorld:
      EXPECT_TRUE(response.status >= 200 && response.status < 300) << what << response.status;
      break;
    case Sees::kLost:
      EXPECT_EQ(response.status, 409) << what;
      EXPECT_EQ(ProblemType(response), "lease-lost") << what;
      break;
    case Sees::kRefused:
      EXPECT_EQ(response.status, 403) << what;
      break;
    case Sees::kEverybodys:
      break;
  }
}

TEST_F(Authorization, AStrangerSeesAndChangesNothingAndTheOwnerDoesNotNotice) {
  const std::string tenant = NewUuid();
  const Api owner = server_->As({.tenant = tenant});
  const SampleRequests samples(owner, tenant);
  // Not with `admin`, which may end what stands in another tenant's way.
  for (const http::Route& route : server_->routes()) {
    if (!AsksForAToken(route)) continue;
    const auto found = Strangers().find(route.operation);
    ASSERT_NE(found, Strangers().end()) << NameOf(route) << ": what does a stranger see?";
    if (found->second == Sees::kEverybodys) continue;
    const std::string method(ToText(route.method));
    const auto [target, body, headers] = samples.RequestOf(method, route.pattern);
    const Api stranger = server_->As({.tenant = NewUuid(), .scopes = route.scope});
    ExpectSeen(found->second, stranger.Call(method, target, body), NameOf(route));
    const int status = owner.Call(method, target, body).status;
    EXPECT_TRUE(status >= 200 && status < 300) << NameOf(route) << " -> " << status;
  }
}

TEST_F(Authorization, AStrangerCannotFinishAnothersMessage) {
  const Topic topic(server_->As({.tenant = NewUuid()}));
  const Topic stranger = topic.SeenBy(server_->As({.tenant = NewUuid()}));
  topic.Send();
  const Claimed claimed = topic.Take();
  for (const char* action : {"ack", "extend", "abandon", "fail"}) {
    const std::string more = action == std::string("fail") ? R"(,"error":"no")" : "";
    EXPECT_NE(OutcomeOf(stranger.Report(action, claimed, more)), "done") << action;
  }
  EXPECT_EQ(OutcomeOf(topic.Report("ack", claimed)), "done");
}

TEST_F(Authorization, ALeaseOfTheSameNameIsAnotherInEachTenant) {
  Lease mine(server_->As({.tenant = NewUuid()}));
  Lease theirs = mine.SeenBy(server_->As({.tenant = NewUuid()}));
  EXPECT_EQ(mine.Acquire().status, 200);
  EXPECT_EQ(theirs.Acquire().status, 200);
  EXPECT_EQ(mine.Renew().status, 200);
  // Nor does a fence of one count for a write of the other.
  const Api stranger = server_->As({.tenant = NewUuid()});
  EXPECT_EQ(stranger
                .Call("POST", "/api/v1/messages", Topic(stranger).Message(),
                      {{"Tenure-Fence", mine.Claim()}})
                .status,
            412);
}

TEST_F(Authorization, TenantsArePartOfTheKeyOfWhatHappensOnce) {
  const std::string name = "test/" + NewUuid();
  const support::HttpHeaders key{{"Idempotency-Key", NewUuid()}};
  const std::string tenant = NewUuid();
  const auto enqueue = [&](const Says& says) {
    return Topic(server_->As(says), name).Enqueue("", key).Json()["id"].Text();
  };
  const std::string first = enqueue({.tenant = tenant});
  EXPECT_EQ(enqueue({.tenant = tenant}), first);
  EXPECT_NE(enqueue({.tenant = tenant, .person = "bob"}), first);
  EXPECT_NE(enqueue({.tenant = NewUuid()}), first);
}

TEST_F(Authorization, ASessionIsOfTheTokensTenantOrRefused) {
  const std::string tenant = NewUuid();
  const Api api = server_->As({.tenant = tenant, .scopes = "sessions:read sessions:write"});
  Key key = NewKey();
  const HttpResponse refused = api.Put(key, 1);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(ProblemType(refused), "forbidden-tenant");
  EXPECT_EQ(refused.FindHeader("WWW-Authenticate"), std::nullopt) << "no other token would do";
  key.tenant = tenant;
  const std::string id = api.Put(key, 1).Json()["sessionId"].Text();
  EXPECT_EQ(api.Get("/sessions").Json()["items"].Size(), 1U);
  EXPECT_EQ(api.Get("/sessions?tenantObjectId=" + NewUuid()).Json()["items"].Size(), 0U);
  const Api nobody = server_->As({.tenant = "not-a-uuid"});
  EXPECT_EQ(nobody.Get("/sessions").Json()["items"].Size(), 0U);
  EXPECT_EQ(nobody.Get("/sessions/" + id).status, 404);
}

TEST_F(Authorization, AnAdministratorMayEndWhatStandsInAnothersWay) {
  Key key = NewKey();
  const Api holder = server_->As({.tenant = key.tenant});
  const std::string id = holder.Put(key, 1).Json()["sessionId"].Text();
  key.tenant = NewUuid();
  const Says rival{.tenant = key.tenant, .scopes = "sessions:read sessions:write"};
  EXPECT_EQ(server_->As(rival).Put(key, 1).status, 409);
  EXPECT_EQ(server_->As(rival).Delete(id).status, 404);
  const Api admin = server_->As({.tenant = key.tenant});
  EXPECT_EQ(admin.Get("/sessions/" + id).status, 404) << "to end it is not to read it";
  EXPECT_EQ(admin.Delete(id).status, 204);
  EXPECT_EQ(server_->As(rival).Put(key, 1).status, 201);
  EXPECT_FALSE(holder.Session(id)["isActive"].Bool());
}

TEST_F(Authorization, UsageIsOfTheTokensTenantAlone) {
  Key key = NewKey();
  const Api owner =
      server_->As({.tenant = key.tenant, .scopes = "sessions:read sessions:write usage:read"});
  owner.Put(key, 1);
  Eventually("a window of it is closed", [&] {
    const HttpResponse totals = owner.Get("/usage/totals");
    return totals.status == 200 && totals.Json()["sessions"].Int() == 1;
  });
  const Json window = owner.Get("/usage/windows?limit=1").Json()["items"][0];
  const std::string records =
      "/usage/windows/" + std::to_string(window["window"].Int()) + "/records";
  EXPECT_EQ(owner.Get(records).Json()["items"].Size(), 1U);
  const Api stranger = server_->As({.tenant = NewUuid(), .scopes = "usage:read"});
  EXPECT_EQ(stranger.Get(records).Json()["items"].Size(), 0U);
  for (const std::string& query : {std::string(), "?tenantObjectId=" + key.tenant})
    EXPECT_EQ(stranger.Get("/usage/totals" + query).Json()["sessions"].Int(), 0) << query;
}

TEST_F(Authorization, A1_NobodyIsNoTenantWhoseThingsOthersSee) {
  const std::string nil = "00000000-0000-0000-0000-000000000000";
  const Api admin = server_->As({.tenant = nil});
  EXPECT_EQ(admin.Get("/sessions").status, 401) << "no token names it";
  const StoreUnderTest store(Engine::kSqlite);
  const auto open = store.Serve();
  Key key = NewKey();
  key.tenant = nil;
  const HttpResponse refused = Api(*open).Put(key, 1);
  EXPECT_EQ(refused.status, 400) << refused.body;
  // As it may be from before that was refused.
  key.tenant = NewUuid();
  const Api owner = server_->As({.tenant = key.tenant});
  owner.Put(key, 1);
  server_->Execute("update sessions set tenant = zeroblob(16) where user_id = x'" +
                   HexOf(key.user) + "'");
  for (const char* tenant : {"not-a-uuid", "11111111-1111-4111-8111-111111111111"}) {
    const Api stranger = server_->As({.tenant = tenant, .scopes = "sessions:read usage:read"});
    for (const std::string& query : {std::string(), "?tenantObjectId=" + NewUuid()}) {
      EXPECT_EQ(stranger.Get("/sessions" + query).Json()["items"].Size(), 0U) << tenant << query;
      Eventually("a window is closed",
                 [&] { return stranger.Get("/usage/totals" + query).status == 200; });
      EXPECT_EQ(stranger.Get("/usage/totals" + query).Json()["sessions"].Int(), 0) << tenant;
      EXPECT_EQ(stranger.Get("/usage/windows/1/records" + query).Json()["items"].Size(), 0U);
    }
  }
}

TEST_F(Authorization, A1_ATenantHasOneSpelling) {
  std::string tenant = NewUuid();
  const Lease lease(server_->As({.tenant = tenant}));
  Lease(lease).Acquire();
  std::ranges::transform(tenant, tenant.begin(),
                         [](char c) { return static_cast<char>(std::toupper(c)); });
  EXPECT_EQ(server_->As({.tenant = tenant}).Get(lease.Path()).status, 200);
}

/// All that a tenant can make has a UUID for a name here.
TEST_F(Authorization, A1_MetricsAndHealthNameNoTenantsThings) {
  const Says tenant{.tenant = NewUuid()};
  const Api api = server_->As(tenant);
  const SampleRequests samples(api, tenant.tenant);
  for (const auto& [method, path] : OpenApi::OfTheSource().Operations()) {
    const auto [target, body, headers] = samples.RequestOf(method, path);
    api.Call(method, target, body, headers);
  }
  const Api stranger = server_->As({.tenant = NewUuid(), .scopes = "ops:read"});
  const std::string metrics = stranger.Get("/metrics").body;
  const HttpResponse health = stranger.Get("/health");
  const std::string installation = health.Json()["store"]["installation"].Text();
  const std::string told =
      metrics + std::regex_replace(health.body, std::regex(installation), "the store's own");
  static const std::regex uuid("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
  for (std::sregex_iterator at(told.begin(), told.end(), uuid), end; at != end; ++at) {
    const auto place = static_cast<std::size_t>(at->position());
    const std::size_t line = told.rfind('\n', place) + 1;
    ADD_FAILURE() << told.substr(std::max(line, place < 100 ? 0 : place - 100), 200);
  }
  EXPECT_THAT(metrics, HasSubstr("tenure_task_runs_total{task=\"other\",result=\"complete\"}"));
  EXPECT_THAT(metrics, HasSubstr("webhook_deliveries_total{source=\"other\""));
}

TEST_F(Authorization, ASeatIsItsPersonsAloneAndALicenseItsOrganisations) {
  const std::string tenant = NewUuid();
  const Says ann{.tenant = tenant, .scopes = "seats:use licenses:admin", .person = "ann"};
  const Says bob{.tenant = tenant, .scopes = "seats:use", .person = "bob"};
  const Json license = server_->As(ann).Call("POST", "/api/v1/licenses", R"({"seats":2})").Json();
  const std::string ask =
      R"({"license_key":")" + license["license_key"].Text() + R"(","machine_id":"m1"})";
  const HttpResponse mine = server_->As(ann).Call("POST", "/api/v1/licenses/acquire", ask);
  ASSERT_EQ(mine.status, 201);
  const std::string session = "/api/v1/licenses/sessions/" + mine.Json()["session_id"].Text();
  EXPECT_EQ(server_->As(bob).Call("POST", "/api/v1/licenses/acquire", ask).status, 409);
  EXPECT_EQ(server_->As(bob).Call("PATCH", session + "/heartbeat").status, 404);
  EXPECT_EQ(server_->As(bob).Call("DELETE", session).status, 404);
  EXPECT_EQ(server_->As(ann).Call("PATCH", session + "/heartbeat").status, 200);
  const Api foreigner = server_->As({.tenant = NewUuid(), .scopes = "seats:use", .person = "ann"});
  const HttpResponse unknown = foreigner.Call("POST", "/api/v1/licenses/acquire", ask);
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.Json()["error"].Text(), "License not found or inactive");
  EXPECT_FALSE(unknown.Json().Has("reason")) << "nothing is told of another organisation's";
  EXPECT_EQ(foreigner.Call("PATCH", session + "/heartbeat").status, 404);
  EXPECT_EQ(foreigner.Call("DELETE", session).status, 404);
  const Says other{.tenant = tenant, .scopes = "licenses:admin"};
  const HttpResponse named = server_->As(other).Call(
      "POST", "/api/v1/licenses", R"({"seats":1,"organization":")" + NewUuid() + "\"}");
  EXPECT_EQ(named.status, 403) << "another organisation";
  const Says admin{.tenant = tenant, .scopes = "licenses:admin licenses:read admin"};
  const std::string theirs = NewUuid();
  EXPECT_EQ(server_->As(admin)
                .Call("POST", "/api/v1/licenses", R"({"seats":1,"organization":")" + theirs + "\"}")
                .status,
            201);
  EXPECT_EQ(
      server_->As(admin).Get("/api/v1/licenses?organization=" + theirs).Json()["items"].Size(), 1U);
}

TEST_F(Authorization, WhoKnowsTheIdOfAnothersSeatUsesUpNoneOfItsHeartbeats) {
  const std::string tenant = NewUuid();
  const Api ann =
      server_->As({.tenant = tenant, .scopes = "seats:use licenses:admin", .person = "ann"});
  const Api bob = server_->As({.tenant = tenant, .scopes = "seats:use", .person = "bob"});
  const Json license = ann.Call("POST", "/api/v1/licenses", R"({"seats":1})").Json();
  const HttpResponse mine =
      ann.Call("POST", "/api/v1/licenses/acquire",
               R"({"license_key":")" + license["license_key"].Text() + R"(","machine_id":"m1"})");
  ASSERT_EQ(mine.status, 201);
  const std::string beat =
      "/api/v1/licenses/sessions/" + mine.Json()["session_id"].Text() + "/heartbeat";
  int status = 404;
  for (int i = 0; status == 404 && i < 30; ++i) status = bob.Call("PATCH", beat).status;
  EXPECT_EQ(status, 429) << "bob's own are counted";
  EXPECT_EQ(ann.Call("PATCH", beat).status, 200);
}

TEST_F(Authorization, ATokenAsksForNoLocalHost) {
  const Api api = server_->As({.tenant = NewUuid()});
  for (const support::HttpHeaders& headers :
       std::vector<support::HttpHeaders>{{{"Host", "tenure.example"}},
                                         {{"X-Forwarded-For", "192.0.2.1"}},
                                         {{"Origin", "https://app.example"}}}) {
    const HttpResponse response = api.Call("GET", "/sessions", "", headers);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.FindHeader("Access-Control-Allow-Origin"), std::nullopt);
  }
}

TEST_F(Authorization, OpenApiHasEachRoutesScopeAndItsRefusals) {
  const Json paths = Json::Parse(OpenApi::OfTheSource().text())["paths"];
  for (const http::Route& route : server_->routes()) {
    std::string method(ToText(route.method));
    std::transform(method.begin(), method.end(), method.begin(), ::tolower);
    ASSERT_TRUE(paths.Has(route.pattern) && paths[route.pattern].Has(method)) << NameOf(route);
    const Json operation = paths[route.pattern][method];
    EXPECT_EQ(operation["operationId"].Text(), route.operation);
    const std::string expected = route.scope == http::kPublic     ? "[]"
                                 : route.scope == http::kAnyToken ? R"([{"bearer":[]}])"
                                 : route.scope == http::kSigned
                                     ? R"([{"signature":[]}])"
                                     : R"([{"bearer":[")" + route.scope + R"("]}])";
    EXPECT_EQ(operation["security"].Dump(), expected) << NameOf(route);
    if (!AsksForAToken(route)) continue;
    for (const char* status : {"401", "403", "429", "503"})
      EXPECT_TRUE(operation["responses"].Has(status)) << NameOf(route) << " lacks " << status;
  }
}

TEST_F(Authorization, EveryRouteButTheProbesIsInOneClassOfRateLimits) {
  const auto classes = app::RateClassesOf({});
  for (const http::Route& route : server_->routes()) {
    const auto count = std::ranges::count_if(
        classes, [&](const http::RateClass& of) { return of.name == route.rate_class; });
    const bool is_probe = route.pattern == "/livez" || route.pattern == "/readyz";
    // What holders of seats do is counted by machine and by seat, never by person alone.
    const bool counts_itself = route.scope == "seats:use";
    EXPECT_EQ(count, is_probe || counts_itself ? 0 : 1) << NameOf(route);
  }
}

TEST_F(Authorization, TheTableInTheDocumentationIsTheRoutersOwn) {
  std::string table;
  for (const http::Route& route : server_->routes())
    table += "| `" + NameOf(route) + "` | " +
             (route.scope == http::kPublic     ? "no token"
              : route.scope == http::kSigned   ? "a signature"
              : route.scope == http::kAnyToken ? "any token"
                                               : "`" + route.scope + "`") +
             " |\n";
  const std::string page = support::ReadFile(support::SourceDir() / "docs" / "security.md");
  EXPECT_NE(page.find(table), std::string::npos) << "docs/security.md must have these lines:\n"
                                                 << table;
}

}  // namespace
}  // namespace tenure::api
