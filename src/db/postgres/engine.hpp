#pragma once

#include "db/engine.hpp"
#include "db/postgres/connection.hpp"

namespace tenure::db::postgres {

/// PostgreSQL 15: any number of identical processes on one database.
///
/// `direct_url` is for LISTEN, which a transaction pooler cannot do, and for maintenance, which it
/// may cut short; empty: the same as `options.url`. Behind a pooler there is then no feed, and
/// maintenance is one transaction like any other.
std::unique_ptr<Engine> MakeEngine(ConnectionOptions options, std::string direct_url,
                                   telemetry::Registry& metrics, const FreezePolicy& policy = {});

}  // namespace tenure::db::postgres
