// A worker that can be killed, stopped and cut off at any moment: the effect of each message is a
// row, written and acknowledged in one transaction. Tells "effect ID FENCE" for each that was
// committed, and "stale ID FENCE" where the store refused it because the message is somebody
// else's.
//
//   message_worker POSTGRES_URL TOPIC NAME

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <libpq-fe.h>

#include "tenure/messages/worker.hpp"

namespace {

namespace messages = tenure::messages;

struct Closer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Closer>;

void Run(PGconn& connection, const char* sql, const messages::Delivery* delivery = nullptr) {
  const char* const params[] = {delivery ? delivery->id.c_str() : nullptr,
                                delivery ? delivery->payload.c_str() : nullptr};
  const std::unique_ptr<PGresult, Closer> result(
      PQexecParams(&connection, sql, delivery ? 2 : 0, nullptr, params, nullptr, nullptr, 0));
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(PQerrorMessage(&connection));
}

void Tell(const std::string& what, const messages::Delivery& delivery) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::cout << what << ' ' << delivery.id << ' ' << delivery.fence << std::endl;
}

/// Between the effect and its acknowledgement some time passes, as in real life: whoever stops this
/// process stops it there.
void Handle(PGconn& database, const messages::Delivery& delivery, messages::Context& context) {
  try {
    Run(database, "begin");
    Run(database, "insert into effects (id, payload) values ($1::uuid, $2)", &delivery);
    Run(database, "select pg_sleep(0.02)");
    context.Acknowledge(&database);
    Run(database, "commit");
  } catch (const messages::StaleClaim&) {
    Tell("stale", delivery);
    PQclear(PQexec(&database, "rollback"));
    throw;
  } catch (...) {
    PQclear(PQexec(&database, "rollback"));
    throw;
  }
  Tell("effect", delivery);
}

/// Until it is killed.
void Work(const std::string& url, const std::string& topic, const std::string& name) {
  const auto handle = [&](const messages::Delivery& delivery, messages::Context& context) {
    thread_local Connection database;
    if (!database || PQstatus(database.get()) != CONNECTION_OK)
      database.reset(PQconnectdb((url + "?application_name=" + name).c_str()));
    Handle(*database, delivery, context);
  };
  while (true) {
    try {
      const messages::Worker worker(url, {{topic, handle}}, {.owner = name});
      while (true) pause();
    } catch (const messages::Unavailable&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the store is away
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  try {
    Work(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
  }
  return 1;
}
