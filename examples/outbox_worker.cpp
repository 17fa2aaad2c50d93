// The transactional outbox. An order is written and its message enqueued in one transaction: both
// are there, or neither. The worker's handler writes into a table of its own and acknowledges in
// the same transaction, so each order is invoiced exactly once, whatever crashes in between.
//
//   outbox_worker POSTGRES_URL order COUNT   writes orders, each in a transaction of its own
//   outbox_worker POSTGRES_URL invoice COUNT handles messages until there are COUNT invoices

#include <atomic>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tenure/messages/client.hpp>
#include <tenure/messages/outbox.hpp>
#include <tenure/messages/worker.hpp>

#include <libpq-fe.h>

namespace messages = tenure::messages;

namespace {

struct Closer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Closer>;

/// The first value of what it answers.
std::string Run(PGconn& connection, const char* sql, const std::string& param = "") {
  const char* const values[] = {param.c_str()};
  const bool has_param = std::string_view(sql).find("$1") != std::string_view::npos;
  const std::unique_ptr<PGresult, Closer> result(
      PQexecParams(&connection, sql, has_param ? 1 : 0, nullptr, values, nullptr, nullptr, 0));
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(PQerrorMessage(&connection));
  return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

/// Runs `work` in a transaction: committed when it returns, rolled back when it throws.
template <class Work>
void InTransaction(PGconn& connection, Work work) {
  Run(connection, "begin");
  try {
    work();
    Run(connection, "commit");
  } catch (...) {
    PQclear(PQexec(&connection, "rollback"));
    throw;
  }
}

void Order(PGconn& database) {
  InTransaction(database, [&] {
    const std::string id = Run(database, "insert into example_orders default values returning id");
    messages::Enqueue(&database, {.topic = "example-orders", .payload = R"({"order":)" + id + "}"});
  });
}

void Invoice(const std::string& url, const messages::Delivery& delivery,
             messages::Context& context) {
  thread_local const Connection database(PQconnectdb(url.c_str()));
  InTransaction(*database, [&] {
    Run(*database, "insert into example_invoices (message) values ($1)", delivery.payload);
    context.Acknowledge(database.get());
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: outbox_worker POSTGRES_URL order|invoice COUNT\n";
    return 2;
  }
  const std::string url = argv[1];
  const int count = std::stoi(argv[3]);
  const auto client = messages::Open(url);  // brings the schema up to date
  const Connection database(PQconnectdb(url.c_str()));
  Run(*database, "set client_min_messages = warning");
  Run(*database,
      "create table if not exists example_orders (id bigint generated always as identity)");
  Run(*database, "create table if not exists example_invoices (message text not null)");
  if (std::string_view(argv[2]) == "order") {
    for (int i = 0; i < count; ++i) Order(*database);
    std::cout << "ordered " << count << std::endl;
    return 0;
  }
  std::atomic<int> invoiced = 0;
  messages::Worker worker(
      url, {{"example-orders", [&](const messages::Delivery& delivery, messages::Context& context) {
               Invoice(url, delivery, context);
               ++invoiced;
               invoiced.notify_all();
             }}});
  for (int done = 0; done < count; done = invoiced) invoiced.wait(done);
  worker.Stop();
  std::cout << "invoiced " << invoiced << std::endl;
}
