// Messages in the user's own PostgreSQL transactions, and workers that are killed.

#include "tenure/messages/outbox.hpp"

#include <memory>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>

#include "client/messages/test/place.hpp"
#include "client/messages/test/signal.hpp"
#include "client_sql/queries.hpp"
#include "store/every_query_runs.hpp"
#include "support/process.hpp"
#include "tenure/messages/client.hpp"
#include "tenure/messages/worker.hpp"

namespace tenure::messages {
namespace {

using client::Place;
using client::PlaceKind;
using namespace std::chrono_literals;

const auto* const every_query_runs =
    ::testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(client::sql::All()));

struct Closer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

class Outbox : public ::testing::Test {
 protected:
  void Run(const char* sql) {
    PGresult* const result = PQexec(database_.get(), sql);
    EXPECT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(database_.get());
    PQclear(result);
  }
  std::vector<Enqueued> Send(const std::vector<std::string>& payloads) {
    std::vector<Message> messages;
    for (const std::string& each : payloads) messages.push_back({.topic = "work", .payload = each});
    return client_.Enqueue(messages);
  }
  support::ProcessOptions EffectWorker() const {
    return {.argv = {std::getenv("EFFECT_WORKER_BINARY"), place_.url()}};
  }
  /// Whatever is left when the killed one's last commit has gone through.
  void FinishTheRest() const {
    support::Process last(EffectWorker());
    while (Number("select count(*) from tenure.messages") > 0) last.WaitForLine("effect");
  }
  std::int64_t Number(const std::string& sql) const { return std::stoll(place_.Execute(sql)); }

  Place place_{PlaceKind::kPostgres};
  Client client_{place_.url()};
  std::unique_ptr<PGconn, Closer> database_{PQconnectdb(place_.url().c_str())};
};

TEST_F(Outbox, ARoleWithoutRightsIsToldHowToGetThem) {
  // Dropped with the transaction that made it: the cluster is shared.
  Run("begin");
  Run("create role outbox_poor");
  Run("grant usage on schema tenure to outbox_poor");
  Run("set local role outbox_poor");
  try {
    Enqueue(database_.get(), {.topic = "work", .payload = "1"});
    ADD_FAILURE() << "it may enqueue";
  } catch (const AccessDenied& denied) {
    EXPECT_THAT(denied.what(), ::testing::HasSubstr("permission denied for function enqueue"));
    EXPECT_THAT(denied.what(), ::testing::HasSubstr("tenure migrate --grant"));
  }
  Run("rollback");
}

TEST_F(Outbox, SendsWhatWasCommittedAndNothingElse) {
  Run("begin");
  Enqueue(database_.get(), {.topic = "work", .payload = "1"});
  Run("rollback");
  Run("begin");
  const Message message{.topic = "work",
                        .payload = std::string("\0'", 2),
                        .is_bytes = true,
                        .priority = 2,
                        .correlation_id = "it's",
                        .headers = R"({"k": "v"})",
                        .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"};
  const std::string id = Enqueue(database_.get(), message);
  EXPECT_TRUE(client_.Claim({.topics = {"work"}}).empty());
  Run("commit");
  const auto claimed = client_.Claim({.topics = {"work"}, .wait = 20s});
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed.front().id, id);
  EXPECT_EQ(claimed.front().payload, message.payload);
  EXPECT_EQ(claimed.front().priority, 2);
  EXPECT_EQ(claimed.front().correlation_id, "it's");
  EXPECT_EQ(claimed.front().traceparent, message.traceparent);
}

TEST_F(Outbox, SendsTimersToo) {
  const std::string id =
      Enqueue(database_.get(), {.topic = "work", .payload = "1", .delay = Milliseconds(1)});
  const auto claimed = client_.Claim({.topics = {"work"}, .wait = 20s});
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed.front().id, id);
}

TEST_F(Outbox, RefusesTheAcknowledgementOfAFormerOwner) {
  Send({"1"});
  const Delivery former = client_.Claim({.topics = {"work"}, .wait = 20s}).at(0);
  client_.GiveBack({&former, 1});
  const Delivery owner = client_.Claim({.topics = {"work"}, .wait = 20s}).at(0);
  Run("begin");
  EXPECT_THROW(Acknowledge(database_.get(), former), StaleClaim);
  Run("rollback");
  Run("begin");
  Acknowledge(database_.get(), owner);
  Run("rollback");
  Run("begin");
  Acknowledge(database_.get(), owner);
  Run("commit");
  EXPECT_EQ(client_.Acknowledge(owner), Outcome::kGone);
}

TEST_F(Outbox, APoisonousMessageEndsInTheDeadLettersAndTakesNoOtherWithIt) {
  Run("create table effects (id text not null)");
  std::vector<std::string> payloads(500, "1");
  payloads[250] = R"("poison")";
  const std::string poison = Send(payloads)[250].id;
  for (int crash = 1; crash <= 3; ++crash) {
    support::Process worker(EffectWorker());
    EXPECT_EQ(worker.Wait(), 128 + SIGKILL) << worker.Output();
    EXPECT_GT(place_.GiveUpWorkers(), 0);
  }
  const auto dead = place_.Dead("work");
  ASSERT_EQ(dead.rows.size(), 1u);
  EXPECT_EQ(dead.rows.front().id.ToString(), poison);
  EXPECT_EQ(dead.rows.front().reason, DeathReason::kCrashes);
  FinishTheRest();
  EXPECT_EQ(Number("select count(distinct id) from effects"), 499);
  EXPECT_EQ(Number("select count(*) from effects"), 499);
  EXPECT_EQ(Number("select count(*) from tenure.messages"), 0);
  EXPECT_EQ(place_.Dead("work").rows.size(), 1u);
}

TEST_F(Outbox, AnEffectHappensOnceWheneverItsWorkerIsKilled) {
  Run("create table effects (id text not null)");
  place_.ChangeTopic({.name = "work", .max_crashes = 0});
  constexpr int kKills = 6;
  constexpr int kMessages = kKills * 200;
  std::mt19937 random(4);
  for (int kill = 0; kill < kKills; ++kill) {
    Send(std::vector<std::string>(kMessages / kKills, "1"));
    support::Process worker(EffectWorker());
    const auto effects = std::uniform_int_distribution<int>(1, 40)(random);
    for (int i = 0; i < effects; ++i) worker.WaitForLine("effect");
    worker.Kill();
    worker.Wait();
    place_.GiveUpWorkers();
  }
  FinishTheRest();
  EXPECT_EQ(Number("select count(distinct id) from effects"), kMessages);
  EXPECT_EQ(Number("select count(*) from effects"), kMessages);
  EXPECT_EQ(Number("select count(*) from tenure.messages"), 0);
}

}  // namespace
}  // namespace tenure::messages
