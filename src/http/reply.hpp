#pragma once

#include <memory>
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
  return exchange->request().principal->tenant.value_or("default");
}

/// Who answers for what a request does, as the record of acts has it.
inline base::Actor ActorOf(const ExchangePtr& exchange, std::string act) {
  const Request& request = exchange->request();
  return {.act = std::move(act),
          .tenant = TenantOf(exchange),
          .person = request.principal->person,
          .address = request.client_address,
          .request_id = request.request_id};
}

/// `exchange->caller()` for an act that goes on record with what it changes.
inline base::Caller Acting(const ExchangePtr& exchange, std::string act) {
  base::Caller caller = exchange->caller();
  caller.actor = std::make_shared<const base::Actor>(ActorOf(exchange, std::move(act)));
  return caller;
}

}  // namespace tenure::http
