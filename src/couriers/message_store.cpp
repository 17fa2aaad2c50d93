#include "couriers/message_store.hpp"

#include <unistd.h>

#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/uuid.hpp"
#include "db/migrations.hpp"
#include "db/postgres/engine.hpp"
#include "db/sqlite/shared_engine.hpp"
#include "db_sql/queries.hpp"
#include "leases_sql/queries.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::couriers {
namespace {

std::span<const db::Query* const> Queries() {
  static const std::vector<const db::Query*> all = [] {
    std::vector<const db::Query*> queries;
    for (const auto module : {db::sql::All(), messages::sql::All()})
      queries.insert(queries.end(), module.begin(), module.end());
    return queries;
  }();
  return all;
}

std::string ProcessName() {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}:{}:{}", host, getpid(), base::RandomHex(4));
}

std::unique_ptr<db::Engine> Prepared(std::unique_ptr<db::Engine> engine) {
  db::Migrate(*engine);
  engine->CheckIdentity();
  return engine;
}

/// Claims have one lane, everything else the other.
db::StoreOptions Lanes(int write_lanes) {
  db::StoreOptions options;
  options.write_lanes = write_lanes;
  return options;
}

}  // namespace

NewEngine PostgresEngine(const std::string& url, bool pooled) {
  return [url, pooled](telemetry::Registry& metrics) {
    db::postgres::ConnectionOptions options;
    options.url = url;
    options.pooled = pooled;
    options.queries = Queries();
    return db::postgres::MakeEngine(std::move(options), "", metrics);
  };
}

NewEngine SqliteEngine(const std::string& path) {
  // Whoever opens the file first after a boot ends the leases of the last one: they may share it.
  return [path](telemetry::Registry& metrics) {
    return db::sqlite::MakeSharedEngine(path, base::SystemClock(), metrics, &leases::sql::kEndAll);
  };
}

MessageStore::MessageStore(const NewEngine& new_engine)
    : wake_(base::SystemClock()),
      store_(Prepared(new_engine(metrics_)), Lanes(2), base::SystemClock(), metrics_),
      beats_(new_engine(metrics_), Lanes(1), base::SystemClock(), metrics_),
      feed_(store_.engine().NewFeed(
          {.on_payload = [this](std::string_view payload) { wake_.SignalAll(payload); },
           .on_gap = [this] { wake_.SignalEverybody(); }})),
      messages_(store_, wake_, ProcessName(), base::SystemClock(), metrics_) {
  // Connected from the start: who asks while a lane connects is told that the store is away.
  store_.Open();
  beats_.Open();
  store_.Start();
  beats_.Start();
  wake_.Start();
  if (feed_) feed_->Start();
}

MessageStore::~MessageStore() {
  messages_.Stop();
  if (feed_) feed_->Stop();
  wake_.Stop();
  store_.Stop();
  beats_.Stop();
}

void MessageStore::Heartbeat(messages::HeartbeatRequest request,
                             base::UniqueFunction<db::Result<messages::HeartbeatReply>> done) {
  beats_.WriteLane(0).Submit(std::make_unique<messages::HeartbeatHandler::ItemType>(
      heartbeat_, nullptr, 0, std::move(request), std::move(done)));
}

void MessageStore::Keep() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(keeps_, true)) return;
  messages_.StartClockwork();
}

void MessageStore::Waiting(bool begins) {
  if (!feed_) return;
  const std::lock_guard lock(mutex_);
  waiting_ += begins ? 1 : -1;
  if (waiting_ == (begins ? 1 : 0)) feed_->SetInterested(begins);
}

}  // namespace tenure::couriers
