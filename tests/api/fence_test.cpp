// Tenure-Fence on any write (spec 20, Fencing that is enforced), over HTTP.
#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpHeaders;
using support::HttpResponse;

class Fencing : public testing::TestWithParam<Engine> {
 protected:
  Api api_{SharedServer(GetParam())};
  const Key key_ = NewKey();
  const HttpHeaders never_granted_{{"Tenure-Fence", NewUuid() + "=1"}};
};

TEST_P(Fencing, AWriteUnderAFenceThatWasNeverGrantedChangesNothing) {
  const HttpResponse put = api_.Call("PUT", "/sessions", PutBody(key_, 1), never_granted_);
  EXPECT_EQ(put.status, 412);
  EXPECT_EQ(ProblemType(put), "fence-stale");
  EXPECT_EQ(api_.Get("/sessions?userObjectId=" + key_.user).Json()["items"].Size(), 0u);

  const std::string id = api_.Put(key_, 1).Json()["sessionId"].Text();
  EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(key_, 1), never_granted_).status, 412)
      << "also where nothing would have changed";
  EXPECT_EQ(api_.Call("DELETE", "/sessions/" + id, {}, never_granted_).status, 412);
  EXPECT_EQ(api_.Session(id)["isActive"].Bool(), true);
}

TEST_P(Fencing, AWriteUnderALiveFenceHappensAndUnderAStaleOneChangesNothing) {
  Lease lease(api_);
  lease.Acquire();
  const HttpHeaders live{{"Tenure-Fence", lease.Claim()}};
  const HttpResponse put = api_.Call("PUT", "/sessions", PutBody(key_, 1), live);
  EXPECT_EQ(put.status, 201) << put.body;
  lease.Renew();
  EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(key_, 2), live).status, 201);

  lease.Break(R"(,"force":true)");
  lease.Acquire();
  const HttpResponse stale = api_.Call("PUT", "/sessions", PutBody(key_, 3), live);
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(ProblemType(stale), "fence-stale");
  EXPECT_EQ(api_.Put(key_, 1).Json()["sessionKind"].Int(), 2) << "nothing happened";
  EXPECT_EQ(
      api_.Call("PUT", "/sessions", PutBody(key_, 3), {{"Tenure-Fence", lease.Claim()}}).status,
      201)
      << "the new holder's passes";
}

TEST_P(Fencing, AFenceIsStaleAfterItsReleaseAndAfterItsTime) {
  Lease released(api_);
  released.Acquire();
  released.Release();
  Lease expired(api_);
  expired.Acquire({.ttl_ms = 100});
  Eventually("its time is over", [&] { return expired.Look()["state"].Text() == "free"; });
  for (const Lease& lease : {released, expired})
    EXPECT_EQ(
        api_.Call("PUT", "/sessions", PutBody(key_, 1), {{"Tenure-Fence", lease.Claim()}}).status,
        412);
}

TEST_P(Fencing, OfSeveralFencesAllMustBeLive) {
  Lease one(api_);
  Lease two(api_);
  one.Acquire();
  two.Acquire();
  const HttpHeaders both{{"Tenure-Fence", one.Claim() + ", " + two.Claim()}};
  EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(key_, 1), both).status, 201);
  two.Release();
  EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(key_, 2), both).status, 412);
}

TEST_P(Fencing, WritesToLeasesAndTasksAreFencedToo) {
  Lease leader(api_);
  leader.Acquire();
  const HttpHeaders live{{"Tenure-Fence", leader.Claim()}};
  Lease shard(api_);
  EXPECT_EQ(shard.Post("acquire", Ask().Body(), live).status, 200);
  leader.Release();
  EXPECT_EQ(Lease(api_).Post("acquire", Ask().Body(), live).status, 412);
  EXPECT_EQ(Lease(api_).Post("acquire", Ask{.wait_ms = 60'000}.Body(), live).status, 412);
  EXPECT_EQ(shard.Break(R"(,"force":true)", live).status, 412);
  EXPECT_EQ(shard.Look()["state"].Text(), "held");
}

TEST_P(Fencing, AHeaderThatIsNoFenceIsNamedRatherThanIgnored) {
  for (const char* bad : {"", "a", "a=0", "a b=1", "a=1,", "a=9007199254740992"}) {
    const HttpResponse put =
        api_.Call("PUT", "/sessions", PutBody(key_, 1), {{"Tenure-Fence", bad}});
    EXPECT_EQ(put.status, 400) << bad;
    EXPECT_EQ(put.Json()["errors"][0]["field"].Text(), "Tenure-Fence");
    EXPECT_EQ(api_.Call("DELETE", "/sessions/" + NewUuid(), {}, {{"Tenure-Fence", bad}}).status,
              400);
  }
}

TEST_P(Fencing, ALookIsNotFenced) {
  EXPECT_EQ(api_.Call("GET", "/sessions", {}, never_granted_).status, 200);
}

INSTANTIATE_TEST_SUITE_P(Engines, Fencing, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

TEST(FencingOnPostgres, TheFenceIsHeldUntilTheWriteThatCheckedItHasCommitted) {
  const StoreUnderTest store(Engine::kPostgres);
  const std::vector<std::string> patient{"--set", "store.lock_timeout=50s", "--set",
                                         "store.statement_timeout=60s"};
  const auto one = store.Serve(patient);
  const auto two = store.Serve(patient);
  Lease lease{Api(*two)};
  lease.Acquire();
  const Key key = NewKey();
  SqlSession in_the_way(store.url());
  in_the_way.Execute("begin");
  in_the_way.Execute("insert into tenure.session_keys values ('" + key.user + "', '" +
                     key.capacity + "')");
  support::HttpConnection writing(one->Port(), std::chrono::seconds(60));
  writing.Send(support::FormatRequest(one->Port(), "PUT", "/sessions", PutBody(key, 1),
                                      {{"Tenure-Fence", lease.Claim()}}));
  Eventually("the write waits for the lock", [&] {
    return store.Execute(
               "select count(*) from pg_stat_activity where datname = current_database()"
               " and wait_event_type = 'Lock'") == "1";
  });
  const HttpResponse broken = lease.Break(R"(,"force":true)");
  EXPECT_EQ(broken.status, 409);
  EXPECT_EQ(broken.Json()["reason"].Text(), "guarded");
  EXPECT_EQ(lease.Renew().status, 200) << "a renewal is not held up";
  in_the_way.Execute("rollback");
  EXPECT_EQ(writing.ReadResponse().status, 201);
  EXPECT_TRUE(lease.Break(R"(,"force":true)").Json()["broken"].Bool());
}

}  // namespace
}  // namespace tenure::api
