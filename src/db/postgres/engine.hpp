#pragma once

#include "db/engine.hpp"
#include "db/postgres/connection.hpp"

namespace tenure::db::postgres {

/// PostgreSQL 15: any number of identical processes on one database.
///
/// `direct_url` is for what a transaction pooler cannot do (migrations, LISTEN); empty: the same as
/// `options.url`, and behind a pooler there is then no feed.
std::unique_ptr<Engine> MakeEngine(ConnectionOptions options, std::string direct_url,
                                   telemetry::Registry& metrics);

}  // namespace tenure::db::postgres
