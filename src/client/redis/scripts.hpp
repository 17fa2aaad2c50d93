#pragma once

#include <initializer_list>
#include <string_view>

#include "client/redis/store.hpp"

/// The scripts of leases (lua/), each with what it needs in front.
namespace tenure::client {

/// A script of these parts, one behind the other. `operation` outlives it.
RedisScript MakeScript(std::string_view operation, std::initializer_list<std::string_view> parts);

const RedisScript& AcquireScript();
const RedisScript& RenewScript();
const RedisScript& ReleaseScript();
const RedisScript& BreakScript();
const RedisScript& GetScript();
const RedisScript& ListScript();
const RedisScript& SettingsScript();

}  // namespace tenure::client
