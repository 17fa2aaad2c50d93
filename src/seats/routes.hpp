#pragma once

#include <cstdint>
#include <string>

#include "http/router.hpp"
#include "seats/rate_guards.hpp"
#include "seats/seats.hpp"

namespace tenure::seats {

/// What settings say about new licences and answers.
struct RouteOptions {
  std::int64_t ttl_ms = 360'000;
  std::string key_prefix = "TENURE";
  std::string contact_support{};
};

/// What the routes work with; all of it outlives the router.
struct RouteParts {
  Seats& seats;
  RateGuards& guards;
  const RouteOptions& options;
};

inline constexpr const char* kUse = "seats:use";
inline constexpr const char* kOperate = "seats:operate";
inline constexpr const char* kReadLicenses = "licenses:read";
inline constexpr const char* kAdministrate = "licenses:admin";
inline constexpr std::string_view kSpanResult = "seat.result";

/// Acquire, heartbeat, release, tickets: what a holder does.
void AddUseRoutes(http::Router& router, const RouteParts& parts);
void AddOrganizationRoutes(http::Router& router, const RouteParts& parts);
/// Licences and their keys, as operators make and change them.
void AddLicenseRoutes(http::Router& router, const RouteParts& parts);
/// Holdings, the line and the log of a licence: what operators see of them and end.
void AddSeatRoutes(http::Router& router, const RouteParts& parts);
/// Why a seat or a licence is as it is.
void AddWhyRoutes(http::Router& router, const RouteParts& parts);

/// The UUID in the path. Throws 400 that names it.
base::Uuid PathUuid(const http::ExchangePtr& exchange, std::size_t index, const char* name);

}  // namespace tenure::seats
