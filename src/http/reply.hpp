#pragma once

#include <string>
#include <utility>

#include "http/exchange.hpp"

namespace tenure::http {

/// An answer whose body is finished JSON.
inline Response JsonResponse(int status, std::string body) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

/// Whose names a request speaks of: the token's tenant, `default` without one (spec 05, Tenants).
inline std::string TenantOf(const ExchangePtr& exchange) {
  return exchange->request().principal.tenant.value_or("default");
}

}  // namespace tenure::http
