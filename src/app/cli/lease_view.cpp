#include "app/cli/lease_view.hpp"

#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/error.hpp"
#include "base/time_parse.hpp"
#include "base/time_text.hpp"
#include "config/printable.hpp"
#include "providers/http_answers.hpp"

namespace tenure::app {
namespace {

constexpr std::int64_t kYear10000Ms = 253'402'300'800'000;

http::ClientResponse AsResponse(const Answer& answer) {
  return {.status = answer.status, .headers = {}, .body = answer.body};
}

}  // namespace

leases::LeaseView ParseLease(const Answer& answer) {
  auto lease = providers::ReadLease(AsResponse(answer), {});
  if (!lease) throw base::UserError("the server's answer is no lease");
  return *std::move(lease);
}

LeasePage ParseLeasePage(const Answer& answer) {
  LeasePage page{.items = providers::ReadLeases(AsResponse(answer)), .json = {}, .next_cursor = {}};
  simdjson::dom::parser parser;
  const simdjson::dom::element document = parser.parse(answer.body);
  for (const simdjson::dom::element item : simdjson::dom::array(document["items"]))
    page.json.push_back(simdjson::minify(item));
  std::string_view cursor;
  if (document["next_cursor"].get(cursor) == simdjson::SUCCESS) page.next_cursor = cursor;
  return page;
}

std::string TimeText(std::int64_t ms) {
  return ms > 0 && ms < kYear10000Ms ? base::UtcText(ms) : "-";
}

std::string LeftText(const leases::LeaseView& lease, std::optional<std::int64_t> now_ms) {
  if (lease.state == leases::LeaseState::kFree || !now_ms) return "-";
  return base::SpanText(lease.expires_at_ms - *now_ms);
}

std::string LeaseText(const leases::LeaseView& lease) {
  const bool held = lease.state != leases::LeaseState::kFree;
  const auto when = [&](std::int64_t ms) { return held ? TimeText(ms) : std::string(); };
  const std::pair<std::string_view, std::string> lines[] = {
      {"lease", lease.name},
      {"state", std::string(leases::ToText(lease.state))},
      {"fence", std::to_string(lease.fence)},
      {"holder", lease.holder},
      {"term", lease.term},
      {"metadata", lease.metadata},
      {"ttl", held ? base::DurationText(std::max<std::int64_t>(lease.ttl.count(), 0)) : ""},
      {"granted", when(lease.granted_at_ms)},
      {"renewed", when(lease.renewed_at_ms)},
      {held ? "expires" : "ended", TimeText(lease.expires_at_ms)},
      {"left", held ? LeftText(lease, lease.now_ms) : ""},
      {"broken", lease.break_reason},
      {"waiting", std::to_string(lease.waiters)},
  };
  std::string text;
  for (const auto& [name, value] : lines)
    if (!value.empty()) text += fmt::format("{:<10}{}\n", name, config::Printable(value));
  return text;
}

}  // namespace tenure::app
