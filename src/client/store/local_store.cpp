#include "client/store/local_store.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/host.hpp"
#include "db/migrations.hpp"
#include "db/postgres/engine.hpp"
#include "db/sqlite/shared_engine.hpp"
#include "leases_sql/queries.hpp"

namespace tenure::client {

LocalStore::LocalStore(const StoreAddress& address, Options options)
    : address_(address),
      options_(std::move(options)),
      process_(base::NewProcessName()),
      wake_(base::SystemClock()),
      feed_engine_(NewEngine()) {
  db::Migrate(*feed_engine_);
  feed_engine_->CheckIdentity();
  wake_.Start();
  feed_ = feed_engine_->NewFeed(
      {.on_payload = [this](std::string_view payload) { wake_.SignalAll(payload); },
       .on_gap =
           [this] {
             if (options_.recheck_key.empty())
               wake_.SignalEverybody();
             else
               wake_.SignalAll(options_.recheck_key);
           }});
  if (feed_) feed_->Start();
}

LocalStore::~LocalStore() {
  if (feed_) feed_->Stop();
  wake_.Stop();
}

std::unique_ptr<db::Engine> LocalStore::NewEngine() {
  // Whoever opens a file first after a boot ends the leases of the last one, whatever it is after.
  if (const auto* file = std::get_if<SqliteAddress>(&address_))
    return db::sqlite::MakeSharedEngine(file->path, base::SystemClock(), metrics_,
                                        &leases::sql::kEndAll);
  const auto& postgres = std::get<PostgresAddress>(address_);
  db::postgres::ConnectionOptions connection;
  connection.url = postgres.url;
  connection.pooled = postgres.pooled;
  connection.queries = options_.queries;
  return db::postgres::MakeEngine(std::move(connection), "", metrics_);
}

std::unique_ptr<db::Store> LocalStore::NewLanes(int write_lanes) {
  db::StoreOptions options;
  options.write_lanes = write_lanes;
  return std::make_unique<db::Store>(NewEngine(), options, base::SystemClock(), metrics_);
}

void LocalStore::Count(int more) {
  if (!feed_) return;
  const base::Lock lock(mutex_);
  const bool waited = waiting_ > 0;
  waiting_ += more;
  if (waited != (waiting_ > 0)) feed_->SetInterested(waiting_ > 0);
}

std::vector<const db::Query*> Joined(
    std::initializer_list<std::span<const db::Query* const>> modules) {
  std::vector<const db::Query*> all;
  for (const auto module : modules) all.insert(all.end(), module.begin(), module.end());
  return all;
}

}  // namespace tenure::client
