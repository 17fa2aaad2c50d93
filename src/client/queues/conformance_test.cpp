// The conformance suite of ordered queues on stores of our own, and completing in a transaction of
// one's own. (Over HTTP: tests/api.)

#include "client/queues/test/conformance.hpp"

#include <libpq-fe.h>

#include "client/messages/test/place.hpp"
#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"
#include "tenure/queues/outbox.hpp"

namespace tenure::queues::conformance {
namespace {

using client::Place;
using client::PlaceKind;

template <PlaceKind kKind>
Place& QueuePlace() {
  static Place place(kKind);
  return place;
}

/// As a file of bots makes one.
void Declare(const client::StoreAddress& address, const std::string& queue) {
  client::MessageStore store(address, sql::All());
  Queues queues(store.lanes(), store.store().wake(), store.messages(), base::SystemClock());
  QueueSettings settings;
  settings.max_delivery_count = 2;
  settings.backoff_ms = 0;
  Place::Ask<DeclareReply>([&](auto done) {
    queues.Declare({"default", queue, {settings, "", false}}, nullptr, std::move(done));
  });
  store.Stop();
}

template <PlaceKind kKind>
Subject StoreSubject(const std::string& name) {
  return {.name = name,
          .url = [] { return QueuePlace<kKind>().url(); },
          .pooled = kKind == PlaceKind::kPooledPostgres,
          .declare =
              [](const std::string& queue) {
                const std::string& url = QueuePlace<kKind>().url();
                constexpr std::string_view kFile = "sqlite://";
                if (kKind == PlaceKind::kSqlite)
                  Declare(client::SqliteAddress{url.substr(kFile.size())}, queue);
                else
                  Declare(client::PostgresAddress{url, kKind == PlaceKind::kPooledPostgres}, queue);
              }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Stores, QueueConformance,
    ::testing::Values(StoreSubject<PlaceKind::kSqlite>("Sqlite"),
                      StoreSubject<PlaceKind::kPostgres>("Postgres"),
                      StoreSubject<PlaceKind::kPooledPostgres>("PooledPostgres")),
    [](const auto& one) { return one.param.name; });

namespace {

using Connection = std::unique_ptr<PGconn, void (*)(PGconn*)>;

std::string RunSql(PGconn* connection, const std::string& sql) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection, sql.c_str()),
                                                              PQclear);
  return PQresultErrorMessage(result.get());
}

TEST(QueueOutbox, Q1_AnEffectAndItsCompletionAreOneTransactionAndItsMessageHasItsPlaceByTheCommit) {
  const Subject subject = StoreSubject<PlaceKind::kPostgres>("Postgres");
  const std::string url = subject.url();
  subject.declare("outbox");
  const Connection connection(PQconnectdb(url.c_str()), PQfinish);
  RunSql(connection.get(), "create table effects (n int)");
  RunSql(connection.get(), "begin");
  EXPECT_EQ(Send(connection.get(), "outbox", {.session_key = "k", .payload = "1"}).size(), 36u);
  Send(connection.get(), "outbox",
       {.session_key = "k", .payload = std::string("\0", 1), .is_bytes = true});
  Client client(url, "outbox");
  client.Send({.session_key = "k", .payload = "0"});
  EXPECT_EQ(RunSql(connection.get(), "commit"), "");

  Counter handled;
  std::vector<std::string> payloads;
  {
    const Consumer consumer(url, "outbox",
                            [&](const Delivery& delivery, Context& context) {
                              const Connection mine(PQconnectdb(url.c_str()), PQfinish);
                              RunSql(mine.get(), "begin");
                              RunSql(mine.get(), "insert into effects values (1)");
                              context.Complete(mine.get());
                              EXPECT_EQ(RunSql(mine.get(), "commit"), "");
                              RunSql(mine.get(), "begin");
                              RunSql(mine.get(), "insert into effects values (1)");
                              context.Complete(mine.get());
                              EXPECT_NE(RunSql(mine.get(), "commit"), "") << "a second effect";
                              payloads.push_back(delivery.payload);
                              handled.Add();
                            },
                            {.sessions = 1});
    ASSERT_TRUE(handled.Await(3));
  }
  EXPECT_THAT(payloads, ::testing::ElementsAre("0", "1", std::string("\0", 1)));
  EXPECT_EQ(QueuePlace<PlaceKind::kPostgres>().Execute("select count(*) from effects"), "3");
  EXPECT_THROW(Send(connection.get(), "nobody", {.session_key = "k", .payload = "1"}),
               QueueRefused);
}

}  // namespace
}  // namespace tenure::queues::conformance
