#pragma once

#include "http/router.hpp"
#include "seats/redis/redis_round.hpp"

namespace tenure::seats {

/// What the routes work with; all of it outlives the router.
struct RedisRouteParts {
  Seats& seats;
  RedisRound* round = nullptr;  ///< null: this process uses no Redis
  RedisRules rules{};
};

/// /api/v1/seat-ledger: which store keeps heartbeats, and the end of that before a Redis is maintained.
void AddRedisRoutes(http::Router& router, const RedisRouteParts& parts);

/// The part of /health, from memory.
void WriteRedisHealth(base::JsonWriter& json, const RedisStanding& standing);

}  // namespace tenure::seats
