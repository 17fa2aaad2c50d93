// S2 with real time: sessions of one second.
#include <algorithm>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::Json;

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

TEST_P(Expiry, S2_DeletingAnOverdueSessionKeepsItsPlannedEnd) {
  const auto server = store_.Serve({"--set", "sessions.duration=1s", "--workers", "off"});
  const Api api(*server);
  const Json created = api.Put(key_, 1).Json();
  const std::string id = created["sessionId"].Text();
  Eventually("the session has ended", [&] { return !api.Session(id)["isActive"].Bool(); });
  EXPECT_EQ(api.Delete(id).status, 204);
  EXPECT_EQ(api.Session(id)["endReason"].Text(), "expired");
  EXPECT_EQ(api.Session(id)["sessionEndUtc"].Text(), created["sessionEndUtc"].Text());
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
  Eventually("they are counted", [&] { return Metric(api, "sessions_expired_total") == 5; });
  Eventually("none is counted as active", [&] { return Metric(api, "sessions_active") == 0; });
}

INSTANTIATE_TEST_SUITE_P(Engines, Expiry, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
