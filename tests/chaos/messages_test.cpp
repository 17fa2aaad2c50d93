// Messages while everything around them breaks: servers and workers that are killed, a worker that
// stands still until it was given up, PostgreSQL that crashes or cuts connections. Afterwards every
// message that was accepted has ended once (M1), nothing that was rolled back appeared, no report
// of a former owner was accepted (M2), and whatever was handled in a transaction had one effect.

#include <functional>
#include <iostream>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "message_load.hpp"

namespace tenure::chaos {
namespace {

using api::Engine;
using api::Eventually;
using api::StoreUnderTest;
using support::PostgresCluster;
using support::Process;
using testing::IsEmpty;

constexpr std::chrono::seconds kDrainLimit{120};

/// Servers of messages, and what becomes of their store.
class MessageChaos {
 public:
  MessageChaos(const StoreUnderTest& store, std::size_t servers)
      : store_(store), servers_(servers, [&] { return store_.Options(); }) {
    // What is finished is kept for a day, so that it can be compared.
    for (const auto& topic : {kPullTopic, kWorkTopic})
      EXPECT_EQ(api::Api(servers_[0])
                    .Call("PATCH", "/api/v1/topics/" + topic, R"({"retention_ms":86400000})")
                    .status,
                200);
  }

  void KillServer(std::size_t i, MessageLoad& load) {
    servers_.Kill(i);
    load.ServersAreBack();
  }
  std::size_t size() const { return servers_.size(); }
  std::vector<int> Ports() const { return servers_.Ports(); }

  /// Returns when all messages have ended.
  void Drain(MessageLoad& load) {
    load.StopSending();
    const std::string left = store_.engine() == Engine::kSqlite
                                 ? "select count(*) from messages"
                                 : "select count(*) from tenure.messages";
    Eventually(
        "every message has ended", [&] { return store_.Execute(left) == "0"; }, kDrainLimit);
    load.Stop();
  }

 private:
  const StoreUnderTest& store_;
  Servers servers_;
};

/// Library workers in processes of their own, each effect a row of `effects`.
class WorkerProcesses {
 public:
  WorkerProcesses(const StoreUnderTest& store, std::size_t count) : store_(store) {
    store_.Execute("create table effects (id uuid, payload text)");
    processes_.resize(count);
    for (std::size_t i = 0; i < count; ++i) Start(i);
  }

  std::size_t size() const { return processes_.size(); }
  void KillAndRestart(std::size_t i) {
    processes_[i]->Kill(SIGKILL);
    processes_[i]->Wait();
    Start(i);
  }

  /// Stops one in the middle of a handler, lets it go on when all that it had in hand was taken
  /// away, and waits until it has tried to acknowledge.
  void PauseUntilGivenUp(std::size_t i) {
    do {
      processes_[i]->Kill(SIGCONT);
      processes_[i]->WaitForLine("effect");
      processes_[i]->Kill(SIGSTOP);
    } while (!IsInAHandler(i));
    const std::string numbers =
        store_.Execute(fmt::format("select coalesce(string_agg(worker::text, ','), '0') from "
                                   "tenure.message_workers where owner = '{}'",
                                   Name(i)));
    Eventually("what a stopped worker had in hand has come back", [&] {
      return store_.Execute(
                 fmt::format("select count(*) from tenure.messages where worker in ({}) and "
                             "lease_until_ms > 0",
                             numbers)) == "0";
    });
    processes_[i]->Kill(SIGCONT);
    processes_[i]->WaitForLine("stale");
  }

 private:
  static std::string Name(std::size_t i) { return fmt::format("worker-{}", i); }
  /// REQUIRES: it is stopped. All of its handlers are before their acknowledgement: a row that a
  /// stopped one has deleted stays locked, and in nobody else's hands.
  bool IsInAHandler(std::size_t i) {
    const auto sessions = [&](const std::string& more) {
      return std::stoi(store_.Execute(
          fmt::format("select count(*) from pg_stat_activity where application_name = '{}' and {}",
                      Name(i), more)));
    };
    return sessions("query like '%pg_sleep%'") > 0 && sessions("query like '%acknowledge%'") == 0;
  }
  void Start(std::size_t i) {
    processes_[i] = std::make_unique<Process>(support::ProcessOptions{
        .argv = {std::getenv("MESSAGE_WORKER_BINARY"), store_.url(), kWorkTopic, Name(i)}});
  }

  const StoreUnderTest& store_;
  std::vector<std::unique_ptr<Process>> processes_;
};

/// Every effect once, of the messages that are done and of no others.
void ExpectOneEffectEach(const StoreUnderTest& store, MessageWitness& witness) {
  EXPECT_EQ(store.Execute("select count(*) from (select from effects group by id having count(*) > "
                          "1) as doubled"),
            "0");
  const std::string rows = store.Execute(
      "select coalesce(json_agg(json_build_object('id', id, 'payload', payload::jsonb)), '[]') "
      "from "
      "effects");
  std::set<std::string> effects;
  for (const auto& row : support::Json::Parse(rows).Elements()) {
    witness.HadAnEffect(row["payload"].Text(), row["id"].Text());
    std::string id = row["id"].Text();
    std::erase(id, '-');
    effects.insert(id);
  }
  const auto tables = ReadMessages(store);
  for (const auto& id : witness.AcceptedWith(kWorkToken))
    EXPECT_NE(effects.contains(id), tables.dead.contains(id)) << id;
  for (const auto& id : effects) EXPECT_TRUE(tables.done.contains(id)) << id;
}

TEST(MessagesBroken, OnPostgresWithServersAndWorkersThatDieNothingIsLostOrDoneTwice) {
  std::mt19937_64 random(ChooseSeed());
  PostgresCluster postgres;
  const StoreUnderTest store(Engine::kPostgres, &postgres);
  MessageChaos chaos(store, 3);
  WorkerProcesses workers(store, 3);
  MessageWitness witness;
  MessageLoad load({.ports = chaos.Ports(), .database_url = store.url(), .seed = random()},
                   witness);
  load.WaitForEnds(100);
  workers.PauseUntilGivenUp(random() % workers.size());

  const std::vector<std::function<void()>> blows{
      [&] { chaos.KillServer(random() % chaos.size(), load); },
      [&] { workers.KillAndRestart(random() % workers.size()); },
      [&] { postgres.Restart(PostgresCluster::StopMode::kImmediate); },
      [&] { postgres.KillAllBackends(); },
  };
  for (std::size_t blow = 0; blow < 12; ++blow) {
    // Each kind once, then as the seed says.
    blows[blow < blows.size() ? blow : random() % blows.size()]();
    load.WaitForEnds(20 + random() % 100);
  }
  chaos.Drain(load);
  ExpectOneEffectEach(store, witness);
  std::cout << witness.Summary() << std::endl;
  EXPECT_THAT(witness.Lies(ReadMessages(store)), IsEmpty());
  EXPECT_GT(witness.Answers("stale"), 0) << "nobody was late";
  EXPECT_GT(witness.AcceptedWith(kWorkToken).size(), 100U);
}

TEST(MessagesBroken, OnAFileWithAServerThatDiesNothingIsLostOrDoneTwice) {
  std::mt19937_64 random(ChooseSeed());
  const StoreUnderTest store(Engine::kSqlite);
  MessageChaos chaos(store, 1);
  MessageWitness witness;
  MessageLoad load({.ports = chaos.Ports(), .seed = random()}, witness);
  for (int round = 0; round < 8; ++round) {
    load.WaitForEnds(20 + random() % 200);
    chaos.KillServer(0, load);
  }
  load.WaitForEnds(100);
  chaos.Drain(load);
  std::cout << witness.Summary() << std::endl;
  EXPECT_THAT(witness.Lies(ReadMessages(store)), IsEmpty());
  EXPECT_GT(witness.Answers("stale"), 0) << "nobody was late";
  EXPECT_GT(witness.Accepted(), 500U);
}

}  // namespace
}  // namespace tenure::chaos
