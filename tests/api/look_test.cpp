// GET, list, HEAD and DELETE of sessions.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

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

TEST_P(Look, DeletingAnOldIdLeavesTheNewSessionAlone) {
  const std::string old = Create(key_, 1);
  const std::string upgraded = Create(key_, 2);
  EXPECT_EQ(api_.Delete(old).status, 204);
  EXPECT_EQ(api_.Session(old)["endReason"].Text(), "upgraded");
  EXPECT_TRUE(api_.Session(upgraded)["isActive"].Bool());
}

TEST_P(Look, HeadIsGetWithoutItsBody) {
  for (const std::string& target :
       {"/sessions/" + Create(key_), "/sessions?userObjectId=" + key_.user, std::string("/livez"),
        std::string("/openapi.json")}) {
    const HttpResponse get = api_.Get(target);
    const HttpResponse head = api_.Call("HEAD", target);
    EXPECT_EQ(head.status, 200) << target;
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(head.FindHeader("Content-Length"), std::to_string(get.body.size()));
    EXPECT_EQ(head.FindHeader("Content-Type"), get.FindHeader("Content-Type"));
  }
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

TEST_P(Look, ALastPageThatIsFullHasNoCursor) {
  Key other = key_;
  other.user = NewUuid();
  Create(key_);
  Create(other);
  const std::string query = "/sessions?tenantObjectId=" + key_.tenant + "&limit=";
  EXPECT_TRUE(api_.Get(query + "2").Json()["nextCursor"].IsNull());
  EXPECT_FALSE(api_.Get(query + "1").Json()["nextCursor"].IsNull());
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

TEST_P(Look, AWrongParameterIsRefusedByItsName) {
  for (const char* limit : {"0", "1001", "-1", "1.5", "x", "", "99999999999999999999", "+5"})
    EXPECT_EQ(Complaint(std::string("limit=") + limit), "limit") << limit;
  for (const char* field : {"userObjectId", "tenantObjectId", "capacityId", "cursor"})
    EXPECT_EQ(Complaint(std::string(field) + "=xyz"), field);
  for (const char* active : {"yes", "1", "TRUE", ""})
    EXPECT_EQ(Complaint(std::string("active=") + active), "active") << active;
  EXPECT_EQ(Complaint("userobjectid=" + key_.user), "userobjectid") << "unknown";
  EXPECT_EQ(Complaint("limit=1&limit=1"), "limit") << "repeated";
  EXPECT_EQ(Complaint("limit=1&l%69mit=2"), "limit") << "repeated in another spelling";
}

TEST_P(Look, AQueryThatIsNoTextIsRefused) {
  for (const char* query : {"limit=%", "limit=%zz", "limit=%ff", "limit=%00", "%ed%a0%80=1"})
    EXPECT_EQ(api_.Get(std::string("/sessions?") + query).status, 400) << query;
}

INSTANTIATE_TEST_SUITE_P(Engines, Look, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
