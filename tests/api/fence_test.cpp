// Tenure-Fence on any write (spec 20, Fencing that is enforced), over HTTP.
#include <gtest/gtest.h>

#include "api/api.hpp"
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

}  // namespace
}  // namespace tenure::api
