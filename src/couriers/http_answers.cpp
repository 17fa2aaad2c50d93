#include "couriers/http_answers.hpp"

#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/base64.hpp"
#include "base/time_parse.hpp"

namespace tenure::couriers {
namespace {

namespace ondemand = simdjson::ondemand;

/// Runs `read` on the answer's JSON.
template <class Read>
auto Reading(const http::ClientResponse& response, Read read) {
  try {
    ondemand::parser parser;
    const simdjson::padded_string body(response.body);
    ondemand::document document = parser.iterate(body);
    return read(document);
  } catch (const simdjson::simdjson_error& error) {
    throw Unavailable(
        fmt::format("the server's answer cannot be read ({}): {}", response.status, error.what()),
        true);
  }
}

/// Everything that is no outcome.
[[noreturn]] void Refuse(const http::ClientResponse& response) {
  const auto [type, detail] = Reading(response, [](ondemand::document& document) {
    std::pair<std::string, std::string> problem;
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "type") problem.first = std::string_view(field.value().get_string());
      if (key == "detail") problem.second = std::string_view(field.value().get_string());
    }
    return problem;
  });
  if (response.status == 400 || response.status == 413) throw std::invalid_argument(detail);
  if (response.status == 401 || response.status == 403)
    throw AccessDenied(fmt::format("access denied ({}): {}", response.status, detail));
  // A 503 other than outcome-unknown says that nothing happened.
  throw Unavailable(
      fmt::format("{}: {}", response.status, detail),
      type.ends_with(":outcome-unknown") || (response.status >= 500 && response.status != 503));
}

std::string Text(ondemand::value value) {
  return std::string(std::string_view(value.get_string()));
}
/// As the text that came: whatever number it has keeps all of its digits.
std::string Raw(ondemand::value value) {
  return std::string(std::string_view(simdjson::to_json_string(value)));
}
std::int64_t Time(ondemand::value value) {
  return value.is_null() ? 0 : base::ParseUtcMs(std::string_view(value.get_string())).value_or(0);
}

Delivery DeliveryOf(ondemand::object object) {
  Delivery delivery;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    ondemand::value value = field.value();
    if (key == "id") delivery.id = Text(value);
    if (key == "fence") delivery.fence = value.get_int64();
    if (key == "topic") delivery.topic = Text(value);
    if (key == "payload") delivery.payload = Raw(value);
    if (key == "payload_base64") {
      delivery.is_bytes = true;
      delivery.payload = base::DecodeBase64(std::string_view(value.get_string())).value_or("");
    }
    if (key == "priority") delivery.priority = static_cast<int>(value.get_int64().value());
    if (key == "attempt") delivery.attempt = value.get_int64();
    if (key == "crashes") delivery.crashes = value.get_int64();
    if (key == "enqueued_at") delivery.enqueued_ms = Time(value);
    if (key == "due_at") delivery.due_ms = Time(value);
    if (key == "lease_expires_at") delivery.lease_until_ms = Time(value);
    if (key == "correlation_id") delivery.correlation_id = Text(value);
    if (key == "headers") delivery.headers = Raw(value);
    if (key == "traceparent") delivery.traceparent = Text(value);
  }
  return delivery;
}

}  // namespace

std::vector<Enqueued> ReadEnqueued(const http::ClientResponse& response, std::size_t count) {
  if (response.status != 200 && response.status != 201) Refuse(response);
  return Reading(response, [&](ondemand::document& document) {
    std::vector<Enqueued> enqueued;
    std::set<std::string> duplicates;
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "ids")
        for (auto id : field.value().get_array()) enqueued.push_back({Text(id.value()), false});
      if (key == "duplicates")
        for (auto id : field.value().get_array()) duplicates.insert(Text(id.value()));
    }
    if (enqueued.size() != count) throw simdjson::simdjson_error(simdjson::INDEX_OUT_OF_BOUNDS);
    for (Enqueued& each : enqueued) each.duplicate = duplicates.contains(each.id);
    return enqueued;
  });
}

std::vector<Delivery> ReadClaimed(const http::ClientResponse& response) {
  if (response.status != 200) Refuse(response);
  return Reading(response, [](ondemand::document& document) {
    std::vector<Delivery> deliveries;
    for (auto message : document["messages"].get_array())
      deliveries.push_back(DeliveryOf(message.get_object()));
    return deliveries;
  });
}

std::vector<Outcome> ReadOutcomes(const http::ClientResponse& response,
                                  std::span<const Report> reports) {
  if (response.status != 200) Refuse(response);
  return Reading(response, [&](ondemand::document& document) {
    std::map<std::string, Outcome> told;
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      const Outcome outcome = key == "done"    ? Outcome::kDone
                              : key == "stale" ? Outcome::kStale
                                               : Outcome::kGone;
      for (auto id : field.value().get_array()) told.emplace(Text(id.value()), outcome);
    }
    std::vector<Outcome> outcomes;
    for (const Report& each : reports) {
      const auto found = told.find(each.id);
      if (found == told.end()) throw simdjson::simdjson_error(simdjson::NO_SUCH_FIELD);
      outcomes.push_back(found->second);
    }
    return outcomes;
  });
}

}  // namespace tenure::couriers
