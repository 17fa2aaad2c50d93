#include "local_messages.hpp"

#include <vector>

#include "db/migrations.hpp"
#include "db/postgres/engine.hpp"
#include "db/sqlite/engine.hpp"
#include "db_sql/queries.hpp"
#include "messages_sql/queries.hpp"
#include "queues_sql/queries.hpp"

namespace bench {
namespace {

namespace db = tenure::db;

std::span<const db::Query* const> Queries() {
  static const std::vector<const db::Query*> all = [] {
    std::vector<const db::Query*> queries;
    for (const auto module :
         {db::sql::All(), tenure::messages::sql::All(), tenure::queues::sql::All()})
      queries.insert(queries.end(), module.begin(), module.end());
    return queries;
  }();
  return all;
}

std::unique_ptr<db::Engine> MakeEngine(const std::string& place,
                                       tenure::telemetry::Registry& metrics) {
  std::unique_ptr<db::Engine> engine;
  if (place.starts_with("postgres://")) {
    db::postgres::ConnectionOptions options{};
    options.url = place;
    options.queries = Queries();
    engine = db::postgres::MakeEngine(options, "", metrics);
  } else {
    engine = db::sqlite::MakeEngine(place, tenure::base::SystemClock(), metrics);
  }
  db::Migrate(*engine);
  engine->CheckIdentity();
  return engine;
}

}  // namespace

LocalMessages::LocalMessages(const std::string& place)
    : store_(MakeEngine(place, metrics_), {}, tenure::base::SystemClock(), metrics_),
      wake_(tenure::base::SystemClock()),
      messages_(store_, wake_, "bench", tenure::base::SystemClock(), metrics_),
      queues_(store_, wake_, messages_, tenure::base::SystemClock()) {
  store_.Open();
  store_.Start();
  wake_.Start();
}

LocalMessages::~LocalMessages() {
  messages_.Stop();
  wake_.Stop();
  store_.Stop();
}

}  // namespace bench
