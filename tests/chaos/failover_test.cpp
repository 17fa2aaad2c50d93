// The primary dies and its synchronous standby takes over, under load.
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/sql_session.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "standby.hpp"

namespace tenure::chaos {
namespace {

using api::Api;
using api::Contradictions;
using api::Eventually;
using support::PostgresCluster;
using support::ServerProcess;
using testing::IsEmpty;

class Failover : public testing::Test {
 protected:
  /// Both hosts, as an operator would give them.
  std::string BothUrl() const {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(primary_.port()) +
           ",127.0.0.1:" + std::to_string(standby_.port()) + "/" + database_;
  }
  void LoseThePrimary() {
    primary_.Stop(PostgresCluster::StopMode::kImmediate);
    standby_.Promote();
  }
  static std::int64_t IncarnationOf(const ServerProcess& server) {
    return Api(server).Get("/health").Json()["store"]["incarnation"].Int();
  }

  PostgresCluster primary_;
  const std::string database_ = primary_.CreateDatabase();
  SynchronousStandby standby_{primary_};
};

TEST_F(Failover, NothingThatWasAnsweredIsLostAndTheIncarnationRisesOnce) {
  const ServerProcess one({.store_url = BothUrl()});
  const ServerProcess two({.store_url = BothUrl()});
  EXPECT_EQ(IncarnationOf(one), 1);
  Witness witness;
  Load load({.ports = {one.Port(), two.Port()}, .seed = ChooseSeed()}, witness);
  load.WaitForAnswers(500);
  LoseThePrimary();
  load.WaitForAnswers(500);
  load.Stop();
  std::cout << witness.Summary() << std::endl;

  RepeatUnknown(witness, one.Port());
  api::SqlSession database(standby_.Url(database_));
  const auto rows = api::RowsOf(database);
  EXPECT_THAT(witness.Lies(rows), IsEmpty());
  EXPECT_THAT(Contradictions(rows), IsEmpty());
  EXPECT_EQ(database.Execute("select incarnation from tenure.store"), "2");
  const ServerProcess later({.store_url = standby_.Url(database_)});
  EXPECT_EQ(IncarnationOf(later), 2);
}

TEST_F(Failover, AServerThatLivedThroughItShowsTheNewIncarnation) {
  const ServerProcess server({.store_url = BothUrl()});
  EXPECT_EQ(IncarnationOf(server), 1);
  EXPECT_EQ(Api(server).Get("/readyz").body, R"({"status":"ok"})") << "there is a standby";
  LoseThePrimary();
  Eventually("the server serves again",
             [&] { return Api(server).Put(api::NewKey(), 1).status == 201; });
  EXPECT_EQ(IncarnationOf(server), 2);
}

}  // namespace
}  // namespace tenure::chaos
