#pragma once

#include "client/redis/store.hpp"

/// The scripts of leases (lua/), each with what it needs in front.
namespace tenure::client {

const RedisScript& AcquireScript();
const RedisScript& RenewScript();
const RedisScript& ReleaseScript();
const RedisScript& BreakScript();
const RedisScript& GetScript();
const RedisScript& ListScript();
const RedisScript& SettingsScript();

}  // namespace tenure::client
