// Sessions over HTTP: what PUT answers, looks, lists, ends; and S2 with
// real time, by sessions of one second.
#include <algorithm>
#include <set>

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

TEST_P(Put, CapitalLettersInAnIdMeanTheSameKey) {
  const std::string id = IdOf(api_.Put(key_, 1));
  Key shouted = key_;
  for (std::string* text : {&shouted.user, &shouted.tenant, &shouted.capacity})
    for (char& c : *text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(IdOf(api_.Put(shouted, 1)), id);
}

INSTANTIATE_TEST_SUITE_P(Engines, Put, EachEngine(), EngineName);

class Look : public testing::TestWithParam<Engine> {
 protected:
  std::string Create(const Key& key, int kind = 1) {
    return api_.Put(key, kind).Json()["sessionId"].Text();
  }
  std::set<std::string> Ids(const std::string& query) {
    std::set<std::string> ids;
    for (const Json& item : api_.Get("/sessions?" + query).Json()["items"].Elements())
      ids.insert(item["sessionId"].Text());
    return ids;
  }
  /// The one field that a refused list names.
  std::string Complaint(const std::string& query) {
    const HttpResponse response = api_.Get("/sessions?" + query);
    EXPECT_EQ(response.status, 400) << query;
    const Json errors = response.Json()["errors"];
    EXPECT_EQ(errors.Size(), 1U) << response.body;
    return errors[0]["field"].Text();
  }

  Api api_{SharedServer(GetParam())};
  const Key key_ = NewKey();
};

TEST_P(Look, ASessionIsWhatPutSaidWithoutItsStatus) {
  const Json created = api_.Put(key_, 2).Json();
  const HttpResponse response = api_.Get("/sessions/" + created["sessionId"].Text());
  EXPECT_EQ(response.status, 200);
  const Json session = response.Json();
  EXPECT_FALSE(session.Has("status"));
  EXPECT_FALSE(session.Has("endReason"));
  for (const std::string& field : session.Keys())
    EXPECT_EQ(session[field].Dump(), created[field].Dump()) << field;
}

TEST_P(Look, AnUnknownOrMalformedIdIsNotFound) {
  for (const std::string& id : {NewUuid(), std::string("1"), std::string("not-a-uuid"),
                                NewUuid() + "0", std::string("%41"), std::string("*")}) {
    EXPECT_EQ(api_.Get("/sessions/" + id).status, 404) << id;
    EXPECT_EQ(api_.Delete(id).status, 404) << id;
    EXPECT_EQ(api_.Call("HEAD", "/sessions/" + id).status, 404) << id;
  }
}

TEST_P(Look, DeleteEndsASessionNowAndOnlyOnce) {
  const std::string id = Create(key_, 3);
  const HttpResponse response = api_.Delete(id);
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(response.body, "");
  const Json ended = api_.Session(id);
  EXPECT_FALSE(ended["isActive"].Bool());
  EXPECT_EQ(ended["endReason"].Text(), "deleted");
  EXPECT_LE(TimeMs(ended["sessionEndUtc"].Text()), WallMs());
  EXPECT_GE(ended["sessionEndUtc"].Text(), ended["sessionStartUtc"].Text());

  EXPECT_EQ(api_.Delete(id).status, 204);
  EXPECT_EQ(api_.Session(id).Dump(), ended.Dump()) << "an ended session never changes again";
}

TEST_P(Look, PagesComeInOrderOfStartThenIdWithoutGapOrRepetition) {
  std::vector<std::pair<std::string, std::string>> expected;
  for (int i = 0; i < 25; ++i) {
    Key key = NewKey();
    key.tenant = key_.tenant;
    const Json created = api_.Put(key, 1).Json();
    expected.emplace_back(created["sessionStartUtc"].Text(), created["sessionId"].Text());
  }
  Create(NewKey());  // of another tenant
  std::ranges::sort(expected);

  std::vector<std::pair<std::string, std::string>> listed;
  std::vector<std::size_t> sizes;
  std::string cursor;
  do {
    const Json page = api_.Get("/sessions?limit=10&tenantObjectId=" + key_.tenant + cursor).Json();
    sizes.push_back(page["items"].Size());
    for (const Json& item : page["items"].Elements())
      listed.emplace_back(item["sessionStartUtc"].Text(), item["sessionId"].Text());
    cursor = page["nextCursor"].IsNull() ? "" : "&cursor=" + page["nextCursor"].Text();
  } while (!cursor.empty() && sizes.size() < 10);
  EXPECT_EQ(listed, expected);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{10, 10, 5}));
}

TEST_P(Look, AListHasAHundredItemsUnlessToldOtherwise) {
  for (int i = 0; i < 101; ++i) {
    Key key = NewKey();
    key.tenant = key_.tenant;
    Create(key);
  }
  const std::string query = "/sessions?tenantObjectId=" + key_.tenant;
  EXPECT_EQ(api_.Get(query).Json()["items"].Size(), 100U);
  EXPECT_EQ(api_.Get(query + "&limit=1000").Json()["items"].Size(), 101U);
  EXPECT_EQ(api_.Get(query + "&limit=1").Json()["items"].Size(), 1U);
}

TEST_P(Look, TheListFiltersByUserTenantCapacityAndActivity) {
  using Set = std::set<std::string>;
  const std::string first = Create(key_, 1);
  const std::string second = Create(key_, 3);  // upgrades the first
  Key other = key_;
  other.capacity = NewUuid();
  const std::string third = Create(other, 1);
  EXPECT_EQ(Ids("userObjectId=" + key_.user), (Set{first, second, third}));
  EXPECT_EQ(Ids("userObjectId=" + key_.user + "&active=true"), (Set{second, third}));
  EXPECT_EQ(Ids("userObjectId=" + key_.user + "&active=false"), (Set{first}));
  EXPECT_EQ(Ids("capacityId=" + other.capacity), (Set{third}));
  EXPECT_EQ(Ids("tenantObjectId=" + key_.tenant + "&capacityId=" + key_.capacity),
            (Set{first, second}));
  EXPECT_EQ(Ids("userObjectId=" + key_.user + "&tenantObjectId=" + NewUuid()), Set{});
  EXPECT_EQ(Ids("userObjectId=" + NewUuid()), Set{});
}

INSTANTIATE_TEST_SUITE_P(Engines, Look, EachEngine(), EngineName);

class Expiry : public testing::TestWithParam<Engine> {
 protected:
  SessionRow RowOf(const std::string& id) {
    for (const SessionRow& row : store_.Rows())
      if (row.id == id) return row;
    throw std::runtime_error("no row of " + id);
  }

  StoreUnderTest store_{GetParam()};
  const Key key_ = NewKey();
};

TEST_P(Expiry, S2_PastItsEndASessionIsNotActiveThoughNoJobHasRun) {
  const auto server = store_.Serve({"--set", "sessions.duration=1s", "--workers", "off"});
  const Api api(*server);
  const Json created = api.Put(key_, 3).Json();
  const std::string id = created["sessionId"].Text();
  const std::int64_t end = TimeMs(created["sessionEndUtc"].Text());
  EXPECT_EQ(end - TimeMs(created["sessionStartUtc"].Text()), 1'000);

  Eventually("the session is no longer active", [&] {
    const std::int64_t asked = WallMs();
    const Json session = api.Session(id);
    const bool active = session["isActive"].Bool();
    // The store's clock is this machine's: asked after the end, it must not be active.
    EXPECT_FALSE(active && asked >= end) << session.Dump();
    EXPECT_EQ(session.Has("endReason"), !active);
    return !active;
  });
  EXPECT_GE(WallMs(), end) << "it ended too early";

  const Json expired = api.Session(id);
  EXPECT_EQ(expired["endReason"].Text(), "expired");
  EXPECT_EQ(expired["sessionEndUtc"].Text(), created["sessionEndUtc"].Text());
  const std::string list = "/sessions?userObjectId=" + key_.user;
  EXPECT_EQ(api.Get(list + "&active=true").Json()["items"].Size(), 0U);
  EXPECT_EQ(api.Get(list + "&active=false").Json()["items"].Size(), 1U);
  EXPECT_TRUE(RowOf(id).IsOpen()) << "something has marked it";

  const Json next = api.Put(key_, 1).Json();
  EXPECT_EQ(next["status"].Text(), "created");
  EXPECT_EQ(RowOf(id).end_reason, 3) << "PUT marks the old one in the same step";
  EXPECT_EQ(RowOf(id).end_ms, end);
}

TEST_P(Expiry, TheJobMarksOverdueSessionsAndCountsThem) {
  const auto server =
      store_.Serve({"--set", "sessions.duration=1s", "--set", "sessions.expiry_interval=100ms"});
  const Api api(*server);
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(api.Put(NewKey(), 1).Json()["sessionId"].Text());
  const std::string ended = api.Put(key_, 1).Json()["sessionId"].Text();
  api.Delete(ended);
  Eventually("all overdue sessions are marked", [&] {
    const auto rows = store_.Rows();
    return std::ranges::none_of(rows, [](const SessionRow& row) { return row.IsOpen(); });
  });
  for (const std::string& id : ids) {
    EXPECT_EQ(RowOf(id).end_reason, 3);
    EXPECT_EQ(RowOf(id).end_ms - RowOf(id).start_ms, 1'000);
    EXPECT_EQ(api.Session(id)["endReason"].Text(), "expired");
  }
  EXPECT_EQ(RowOf(ended).end_reason, 2) << "what was deleted stays deleted";
  Eventually("they are counted", [&] { return Metric(api, "tenure_sessions_expired_total") == 5; });
  Eventually("none is counted as active", [&] { return Metric(api, "sessions_active") == 0; });
}

INSTANTIATE_TEST_SUITE_P(Engines, Expiry, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
