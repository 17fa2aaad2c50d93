// A worker that can be killed at any moment: each message's effect is a row in a table of its own,
// written and acknowledged in one transaction. The message "poison" ends the process in the middle
// of its handler. Tells "effect" for each effect that was committed.
//
//   effect_worker POSTGRES_URL

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include <libpq-fe.h>

#include "tenure/messages/worker.hpp"

namespace {

namespace messages = tenure::messages;

struct Closer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};

void Run(PGconn& connection, const char* sql, const char* param = nullptr) {
  const std::unique_ptr<PGresult, Closer> result(PQexecParams(
      &connection, sql, param ? 1 : 0, nullptr, param ? &param : nullptr, nullptr, nullptr, 0));
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw std::runtime_error(PQerrorMessage(&connection));
}

/// Until it is killed.
void Work(const std::string& url) {
  std::mutex output;
  const auto handle = [&](const messages::Delivery& delivery, messages::Context& context) {
    if (delivery.payload == R"("poison")") kill(getpid(), SIGKILL);
    thread_local const std::unique_ptr<PGconn, Closer> database(PQconnectdb(url.c_str()));
    try {
      Run(*database, "begin");
      Run(*database, "insert into effects (id) values ($1)", delivery.id.c_str());
      context.Acknowledge(database.get());
      Run(*database, "commit");
    } catch (...) {
      PQclear(PQexec(database.get(), "rollback"));
      throw;
    }
    const std::lock_guard lock(output);
    std::cout << "effect" << std::endl;
  };
  const messages::Worker worker(url, {{"work", handle}}, {.concurrency = 4});
  std::cout << "ready" << std::endl;
  while (true) pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    Work(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
  }
  return 1;
}
