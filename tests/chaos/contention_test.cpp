// Somebody holds a key's lock and does not let go: an operator's own transaction, a server that
// stands still.
#include <thread>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/sql_session.hpp"
#include "api/store_under_test.hpp"

namespace tenure::chaos {
namespace {

using api::Api;
using api::Engine;
using api::Key;
using support::HttpResponse;

class HeldKey : public testing::Test {
 protected:
  HeldKey() {
    holder_.Execute("begin");
    holder_.Execute("insert into tenure.session_keys values ('" + key_.user + "', '" +
                    key_.capacity + "')");
  }

  const api::StoreUnderTest store_{Engine::kPostgres};
  const std::unique_ptr<support::ServerProcess> server_ = store_.Serve();
  const Key key_ = api::NewKey();
  api::SqlSession holder_{store_.url()};
};

TEST_F(HeldKey, IsAnswered503ContendedAndWorksOnceItIsLetGo) {
  const Api api(*server_);
  const HttpResponse contended = api.Put(key_, 1);
  EXPECT_EQ(contended.status, 503);
  EXPECT_EQ(api::ProblemType(contended), "contended");
  EXPECT_EQ(api.Put(api::NewKey(), 1).status, 201) << "other keys are free";
  holder_.Execute("rollback");
  EXPECT_EQ(api.Put(key_, 1).status, 201);
}

TEST_F(HeldKey, ManyWhoAskForItAreAllAnsweredBeforeTheirPatienceEnds) {
  // Ten seconds each, the patience of an ordinary client; the lock's time-out is two.
  std::vector<std::jthread> clients;
  for (int i = 0; i < 32; ++i)
    clients.emplace_back([&] {
      try {
        const HttpResponse answer = Api(*server_).Put(key_, 1);
        EXPECT_EQ(answer.status, 503);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  clients.clear();
}

TEST_F(HeldKey, DoesNotHoldUpOtherKeysForLong) {
  // No request may give up its turn: whoever does not get in is held up.
  const auto server = store_.Serve({"--set", "lanes.max_wait=1m"});
  std::vector<std::jthread> clients;
  for (int i = 0; i < 32; ++i)
    clients.emplace_back([&, i] {
      try {
        const HttpResponse answer = Api(*server).Put(i % 4 == 0 ? key_ : api::NewKey(), 1);
        EXPECT_EQ(answer.status, i % 4 == 0 ? 503 : 201) << answer.body;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  clients.clear();
}

}  // namespace
}  // namespace tenure::chaos
