// Workers beyond the conformance suite: what they lost, and stores that cannot be reached or talk
// nonsense.

#include "tenure/messages/worker.hpp"

#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/messages/test/place.hpp"
#include "client/messages/test/signal.hpp"
#include "support/http_receiver.hpp"
#include "support/port.hpp"
#include "support/postgres_cluster.hpp"
#include "tenure/leases/leader.hpp"
#include "tenure/leases/reliable_task.hpp"
#include "tenure/log.hpp"
#include "tenure/messages/client.hpp"

namespace tenure::messages {
namespace {

using client::Counter;
using client::Place;
using client::PlaceKind;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class LostWork : public ::testing::TestWithParam<PlaceKind> {
 protected:
  Place place_{GetParam()};
  Client client_{place_.url(), {.pooled = place_.pooled()}};
};

/// Nobody looks into a SQLite file from outside.
INSTANTIATE_TEST_SUITE_P(Stores, LostWork,
                         ::testing::Values(PlaceKind::kPostgres, PlaceKind::kPooledPostgres),
                         [](const auto& one) {
                           return one.param == PlaceKind::kPostgres ? "Postgres" : "PooledPostgres";
                         });

TEST_P(LostWork, IsToldToTheHandlerAndWhenItIsSettledAllTheSame) {
  const std::string id = client_.Enqueue({.topic = "work", .payload = "1"}).id;
  Counter begun, told, again, stale;
  Worker worker(place_.url(),
                {{"work",
                  [&](const Delivery& delivery, Context& context) {
                    if (delivery.crashes > 0) return again.Add();
                    const std::stop_callback tell(context.stop(), [&] { told.Add(); });
                    begun.Add();
                    EXPECT_TRUE(told.Await(1));
                    EXPECT_FALSE(context.IsHeld());
                  }}},
                {.pooled = place_.pooled(), .on_stale = [&](const Delivery& delivery) {
                   EXPECT_EQ(delivery.id, id);
                   stale.Add();
                 }});
  ASSERT_TRUE(begun.Await(1));
  while (place_.GiveUpWorkers() == 0) {
  }  // a heartbeat may have come between
  ASSERT_TRUE(told.Await(1));
  ASSERT_TRUE(stale.Await(1));
  ASSERT_TRUE(again.Await(1));  // under a new number
  worker.Stop();
  EXPECT_GE(worker.stats().lost, 1);
  EXPECT_EQ(worker.stats().stale, 1);
  EXPECT_EQ(worker.stats().done, 1);
}

TEST(OpenMessages, SaysWhatItTakes) {
  EXPECT_THROW(Client("redis://localhost"), std::invalid_argument);
  EXPECT_THROW(Client("postgres://127.0.0.1:1/nobody"), Unavailable);
}

/// Somebody who answers each request in the same way.
class Stranger {
 public:
  Stranger(int status, std::string body)
      : thread_([this, status, body = std::move(body)](const std::stop_token& stop) {
          while (!stop.stop_requested()) try {
              receiver_.Next();
              receiver_.Answer(status, body);
            } catch (const std::exception&) {  // nobody asked for a while, or hung up
            }
        }) {}

  std::string Url() const { return receiver_.Url(); }

 private:
  support::HttpReceiver receiver_{100ms};
  std::jthread thread_;
};

constexpr const char* kForeign400 = R"({"message":"Bad Request"})";
constexpr const char* kTenure400 =
    R"({"type":"urn:tenure:problem:invalid-request","status":400,"detail":"topics is wrong"})";

TEST(Strangers, AProxysRefusalIsNotTakenForTenures) {
  const Stranger proxy(400, kForeign400);
  Client client(proxy.Url());
  EXPECT_THROW(client.Enqueue({.topic = "work", .payload = "1"}), Unavailable);
  const Stranger tenure(400, kTenure400);
  Client refused(tenure.Url());
  EXPECT_THROW(refused.Enqueue({.topic = "work", .payload = "1"}), std::invalid_argument);
}

/// A worker has nobody to throw at: whatever it is answered, the user's process lives.
class Answered : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Bodies, Answered, ::testing::Values(kForeign400, kTenure400, "<html>"));

TEST_P(Answered, AWorkerThatIsRefusedSaysSoAndLives) {
  const Stranger stranger(400, GetParam());
  Counter told;
  Worker worker(stranger.Url(), {{"work", [](const Delivery&, Context&) {}}},
                {.on_trouble = [&](const std::string& what) {
                  EXPECT_THAT(what, HasSubstr("claiming: "));
                  told.Add();
                  throw std::runtime_error("and its hook throws");
                }});
  EXPECT_TRUE(told.Await(2));
  worker.Stop();
}

/// A database of our tables, and a role that may do nothing in it.
class PoorRole : public ::testing::Test {
 protected:
  PoorRole() {
    const Client set_up(cluster_.Url(database_));
    Execute("create role poor login");
  }
  void Execute(const std::string& sql) { cluster_.Execute(database_, sql); }
  /// As docs/operating.md names them.
  void Allow() {
    Execute(
        "grant usage on schema tenure to poor; "
        "grant select, insert, update, delete on all tables in schema tenure to poor; "
        "grant usage on all sequences in schema tenure to poor");
  }

  support::PostgresCluster cluster_;
  const std::string database_ = cluster_.CreateDatabase();
  const std::string url_ =
      "postgresql://poor@127.0.0.1:" + std::to_string(cluster_.port()) + "/" + database_;
};

TEST_F(PoorRole, WhoOpensTheStoreIsToldWhichRightIsMissingAndHowToGetIt) {
  const auto message = [](const auto& open) -> std::string {
    try {
      open();
    } catch (const AccessDenied& denied) {
      return denied.what();
    } catch (const leases::AccessDenied& denied) {
      return denied.what();
    }
    return "nothing was thrown";
  };
  for (const std::string& what :
       {message([&] { Open(url_); }), message([&] { leases::Open(url_); }), message([&] {
          const Worker worker(url_, {{"work", [](const Delivery&, Context&) {}}});
        })}) {
    EXPECT_THAT(what, HasSubstr("permission denied for schema tenure"));
    EXPECT_THAT(what, HasSubstr("The role poor lacks this right."));
    EXPECT_THAT(what, HasSubstr("on all tables in schema tenure to poor"));
  }
}

TEST_F(PoorRole, AWorkerWhoseRightsAreTakenSaysSoAndGoesOnWhenTheyAreBack) {
  Allow();
  Counter told, handled;
  Worker worker(url_, {{"work", [&](const Delivery&, Context&) { handled.Add(); }}},
                {.on_trouble = [&](const std::string& what) {
                  if (what.find("permission denied for table") == std::string::npos) return;
                  EXPECT_THAT(what, HasSubstr("The role poor lacks this right."));
                  told.Add();
                }});
  Client client(cluster_.Url(database_));
  client.Enqueue({.topic = "work", .payload = "1"});
  EXPECT_TRUE(handled.Await(1));
  Execute("revoke all on all tables in schema tenure from poor");
  client.Enqueue({.topic = "work", .payload = "2"});
  EXPECT_TRUE(told.Await(1));
  Allow();
  EXPECT_TRUE(handled.Await(2));
}

TEST_F(PoorRole, ALeaderWhoseRightsWereTakenThrows) {
  Allow();
  const auto manager = leases::Open(url_);
  Execute("revoke all on all tables in schema tenure from poor");
  EXPECT_THROW(leases::RunAsLeader(*manager, "leader",
                                   [](leases::Lease&, const std::stop_token&) { FAIL(); }, {}),
               leases::AccessDenied);
}

/// The log while it lives.
class LogLines {
 public:
  LogLines() {
    SetLogHook([this](const LogLine& line) {
      const std::lock_guard lock(mutex_);
      counts_[std::string(line.event)].Add();
    });
  }
  ~LogLines() { SetLogHook({}); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  [[nodiscard]] bool Await(const std::string& event) {
    Counter* count = nullptr;
    {
      const std::lock_guard lock(mutex_);
      count = &counts_[event];
    }
    return count->Await(1);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Counter> counts_;  // guarded by mutex_
};

/// A server that is not there.
class Nobody : public ::testing::Test {
 protected:
  const support::ReservedPort port_;
  const std::string url_ = "http://127.0.0.1:" + std::to_string(port_.number());
  Counter told_;
  LogLines log_;
};

TEST_F(Nobody, AWorkerSaysThatItCannotReachItsServer) {
  const Worker worker(url_, {{"work", [](const Delivery&, Context&) {}}},
                      {.on_trouble = [this](const std::string&) { told_.Add(); }});
  EXPECT_TRUE(told_.Await(1));
  EXPECT_TRUE(log_.Await("messages.trouble"));
}

TEST_F(Nobody, AManagerSaysThatItCannotReachItsServerWhileItGoesOnTrying) {
  const auto manager =
      leases::Open(url_, {.on_trouble = [this](const std::string& what) {
                     EXPECT_THAT(what, HasSubstr("acquiring: nothing answers at " + url_));
                     told_.Add();
                   }});
  std::stop_source stop;
  std::jthread waiting([&] { manager->TryAcquireFor("job", 1h, {}, {}, stop.get_token()); });
  EXPECT_TRUE(told_.Await(2));
  EXPECT_TRUE(log_.Await("leases.trouble"));
  stop.request_stop();
}

TEST_F(Nobody, AReliableTaskSaysThatItCannotReachItsServer) {
  const auto manager =
      leases::Open(url_, {.on_trouble = [this](const std::string& what) {
                     EXPECT_THAT(what, HasSubstr("claiming the task cleanup: nothing answers"));
                     told_.Add();
                   }});
  const leases::ReliableTask task(
      *manager, {.name = "cleanup", .work = [](const leases::TaskContext&) { FAIL(); }});
  EXPECT_TRUE(told_.Await(1));
  EXPECT_TRUE(log_.Await("leases.trouble"));
}

}  // namespace
}  // namespace tenure::messages
