#pragma once

#include <string>
#include <string_view>

#include "http/exchange.hpp"
#include "http/json_fields.hpp"

/// Why somebody does something: every act takes it, and it stands in the audit.
namespace tenure::http {

inline constexpr std::size_t kMaxReasonBytes = 500;

/// A field of the body of what acts.
inline void ReadReason(const ExchangePtr& exchange, JsonObject& fields,
                       std::string_view name = "reason") {
  std::string reason = fields.OptionalText(name, kMaxReasonBytes).value_or("");
  if (fields.Has(name) && reason.empty()) fields.Refuse(name, "must not be empty");
  exchange->set_reason(std::move(reason));
}
/// For requests that say everything else by their path. Throws a 400 for anything more.
inline void ExpectReasonAlone(const ExchangePtr& exchange) {
  JsonFields fields(exchange->request().body);
  ReadReason(exchange, fields);
  fields.Finish();
}
/// Of a DELETE, and of a PUT, whose body is the whole of what is to be.
inline void ReadQueryReason(const ExchangePtr& exchange, QueryFields& fields) {
  exchange->set_reason(fields.Text("reason", kMaxReasonBytes).value_or(""));
}
inline void ExpectQueryReasonAlone(const ExchangePtr& exchange) {
  QueryFields fields(exchange->request().query);
  ReadQueryReason(exchange, fields);
  fields.Finish();
}

}  // namespace tenure::http
