#include "seats/operator.hpp"

#include <utility>

#include "http/answering.hpp"

namespace tenure::seats {

using http::ExchangePtr;

bool MayNameAny(const ExchangePtr& exchange) {
  const http::Principal& who = *exchange->request().principal;
  return !who.tenant || who.Has("admin");
}

std::string SeenTenant(const ExchangePtr& exchange) {
  return MayNameAny(exchange) ? "" : http::TenantOf(exchange);
}

std::string OrganizationOr(const ExchangePtr& exchange, std::optional<std::string> named) {
  const std::string own = http::TenantOf(exchange);
  if (!named || *named == own) return own;
  if (MayNameAny(exchange)) return *std::move(named);
  throw http::ProblemError({.status = 403,
                            .type = "forbidden",
                            .title = "The token does not allow this",
                            .detail = "Another organisation can be named with the scope admin."});
}

const std::string& PersonOf(const ExchangePtr& exchange) {
  return exchange->request().principal->person;
}

}  // namespace tenure::seats
