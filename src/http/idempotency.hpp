#pragma once

#include <optional>
#include <string>

#include "http/router.hpp"

namespace tenure::http {

/// What a client's Idempotency-Key header stands for (spec 05, Doing it once).
struct IdempotencyKey {
  std::string name;       ///< scope (tenant, person, route) and key, as one text
  std::string body_hash;  ///< SHA-256 of the body and the path's parameters
};

/// Reads the header; empty when there is none. Throws a 400 when it is not 1 to 255 visible ASCII
/// characters, or is there twice.
std::optional<IdempotencyKey> FindIdempotencyKey(const Request& request,
                                                 std::string_view operation);

/// 422: the key was used for a request with another path or body.
Problem KeyOfAnotherRequest();
/// 409: the first request with this key is under way.
Problem KeyUnderWay();

}  // namespace tenure::http
