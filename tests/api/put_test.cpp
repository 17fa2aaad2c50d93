// PUT /sessions: the table of spec 10, row by row, over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using testing::Not;

constexpr std::int64_t kThirtyDaysMs = 30LL * 24 * 60 * 60 * 1000;

class Put : public testing::TestWithParam<Engine> {
 protected:
  std::string IdOf(const HttpResponse& response) { return response.Json()["sessionId"].Text(); }

  Api api_{SharedServer(GetParam())};
  const Key key_ = NewKey();
};

TEST_P(Put, CreatesASessionWhereThereIsNone) {
  const std::int64_t before = WallMs();
  const HttpResponse response = api_.Put(key_, 2);
  const std::int64_t after = WallMs();
  EXPECT_EQ(response.status, 201);
  const Json body = response.Json();
  EXPECT_EQ(response.FindHeader("Location"), "/sessions/" + body["sessionId"].Text());
  EXPECT_EQ(response.FindHeader("Content-Type"), "application/json");
  EXPECT_EQ(body["status"].Text(), "created");
  EXPECT_EQ(body["userObjectId"].Text(), key_.user);
  EXPECT_EQ(body["tenantObjectId"].Text(), key_.tenant);
  EXPECT_EQ(body["capacityId"].Text(), key_.capacity);
  EXPECT_EQ(body["sessionKind"].Int(), 2);
  EXPECT_TRUE(body["isActive"].Bool());
  EXPECT_FALSE(body.Has("previousSessionId"));
  EXPECT_FALSE(body.Has("endReason"));
  const std::int64_t start = TimeMs(body["sessionStartUtc"].Text());
  EXPECT_GE(start, before);
  EXPECT_LE(start, after);
  EXPECT_EQ(TimeMs(body["sessionEndUtc"].Text()) - start, kThirtyDaysMs);
}

TEST_P(Put, TheSameKindAgainIsTheExistingSession) {
  const Json created = api_.Put(key_, 2).Json();
  const HttpResponse response = api_.Put(key_, 2);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.FindHeader("Location"), std::nullopt);
  const Json existing = response.Json();
  EXPECT_EQ(existing["status"].Text(), "existing");
  for (const char* field : {"sessionId", "sessionKind", "sessionStartUtc", "sessionEndUtc"})
    EXPECT_EQ(existing[field].Dump(), created[field].Dump());
}

TEST_P(Put, ALowerKindIsTheExistingSessionOfTheHigherKind) {
  const std::string id = IdOf(api_.Put(key_, 3));
  for (const int kind : {1, 2}) {
    const HttpResponse response = api_.Put(key_, kind);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.Json()["status"].Text(), "existing");
    EXPECT_EQ(IdOf(response), id);
    EXPECT_EQ(response.Json()["sessionKind"].Int(), 3);
  }
}

TEST_P(Put, AHigherKindEndsTheOldAndStartsTheNewAtTheSameInstant) {
  const std::string first = IdOf(api_.Put(key_, 1));
  const HttpResponse response = api_.Put(key_, 3);
  EXPECT_EQ(response.status, 201);
  const Json upgraded = response.Json();
  EXPECT_EQ(upgraded["status"].Text(), "upgraded");
  EXPECT_EQ(upgraded["previousSessionId"].Text(), first);
  EXPECT_EQ(upgraded["sessionKind"].Int(), 3);
  EXPECT_EQ(response.FindHeader("Location"), "/sessions/" + IdOf(response));
  EXPECT_NE(IdOf(response), first);

  const Json old = api_.Session(first);
  EXPECT_FALSE(old["isActive"].Bool());
  EXPECT_EQ(old["endReason"].Text(), "upgraded");
  EXPECT_EQ(old["sessionEndUtc"].Text(), upgraded["sessionStartUtc"].Text());
}

TEST_P(Put, AnotherTenantsSessionIsAConflictThatTellsNothingOfIt) {
  const Json held = api_.Put(key_, 1).Json();
  Key other = key_;
  other.tenant = NewUuid();
  const HttpResponse response = api_.Put(other, 3);
  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(ProblemType(response), "held-by-another-tenant");
  for (const char* field : {"sessionId", "tenantObjectId", "sessionStartUtc", "sessionEndUtc"})
    EXPECT_THAT(response.body, Not(testing::HasSubstr(held[field].Text())));
  EXPECT_TRUE(api_.Session(held["sessionId"].Text())["isActive"].Bool());
}

TEST_P(Put, AfterTheOtherTenantsSessionHasEndedTheKeyIsFree) {
  api_.Delete(IdOf(api_.Put(key_, 3)));
  Key other = key_;
  other.tenant = NewUuid();
  EXPECT_EQ(api_.Put(other, 1).Json()["status"].Text(), "created");
}

TEST_P(Put, AfterADeleteANewSessionOfAnyKindIsCreated) {
  const std::string first = IdOf(api_.Put(key_, 3));
  api_.Delete(first);
  const HttpResponse response = api_.Put(key_, 1);
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.Json()["status"].Text(), "created");
  EXPECT_NE(IdOf(response), first);
}

TEST_P(Put, CapitalLettersInAnIdMeanTheSameKey) {
  const std::string id = IdOf(api_.Put(key_, 1));
  Key shouted = key_;
  for (std::string* text : {&shouted.user, &shouted.tenant, &shouted.capacity})
    for (char& c : *text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(IdOf(api_.Put(shouted, 1)), id);
}

TEST_P(Put, EachUserAndEachCapacityHasASessionOfItsOwn) {
  Key other_capacity = key_;
  other_capacity.capacity = NewUuid();
  Key other_user = key_;
  other_user.user = NewUuid();
  for (const Key& key : {key_, other_capacity, other_user})
    EXPECT_EQ(api_.Put(key, 1).Json()["status"].Text(), "created");
}

TEST_P(Put, FieldsMayStandInAnyOrderAndBetweenSpaces) {
  const std::string body = "\r\n { \"sessionKind\" : 1 ,\t\"capacityId\":\"" + key_.capacity +
                           "\",\"tenantObjectId\":\"" + key_.tenant +
                           "\",\"user\\u004fbjectId\":\"" + key_.user + "\" } ";
  EXPECT_EQ(api_.Call("PUT", "/sessions", body).status, 201);
}

INSTANTIATE_TEST_SUITE_P(Engines, Put, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
