#include "push/json.hpp"

#include <algorithm>

#include "base/json_text.hpp"

namespace tenure::push {
namespace {

using base::JsonWriter;
using std::string_view;

/// What whoever put it said.
void WriteWish(JsonWriter& json, const Subscription& subscription, string_view url) {
  json.Field("topic", string_view(subscription.topic));
  if (const string_view queue = QueueOf(subscription.topic); !queue.empty())
    json.Field("queue", queue);
  json.Field("url", url)
      .Field("max_in_flight", subscription.max_in_flight)
      .Field("timeout_ms", subscription.timeout_ms)
      .Field("format", ToText(subscription.format))
      .Field("enabled", subscription.enabled);
  const bool is_list =
      subscription.header_names.starts_with('[') && base::IsJson(subscription.header_names);
  json.Key("header_names").Raw(is_list ? string_view(subscription.header_names) : "[]");
}

/// Without its path and query, which may hold a secret.
std::string UrlForTheRecord(const std::string& url) {
  constexpr std::size_t kSchemeBytes = 8;  // "https://"
  const std::size_t end = url.find_first_of("/?", std::min(kSchemeBytes, url.size()));
  if (end == std::string::npos || end + 1 >= url.size()) return url;
  return url.substr(0, end) + "/...";
}

}  // namespace

void WriteSubscription(JsonWriter& json, const Subscription& subscription, std::int64_t now_ms,
                       const std::string& secret) {
  json.BeginObject().Field("name", string_view(subscription.name)).Field("id", subscription.id);
  WriteWish(json, subscription, subscription.url);
  if (!secret.empty()) json.Field("secret", string_view(secret));
  json.Field("revision", subscription.revision)
      .Field("state", StateText(subscription, now_ms))
      .Field("failures", subscription.circuit.failures);
  json.Key("gone_at").TimeOrNull(subscription.gone_ms);
  json.Key("next_try_at")
      .TimeOrNull(subscription.circuit.next_ms > now_ms ? subscription.circuit.next_ms : 0);
  json.Key("last_status");
  subscription.last_status > 0 ? json.Value(subscription.last_status) : json.Null();
  json.Key("last_error");
  subscription.last_error.empty() ? json.Null() : json.Value(string_view(subscription.last_error));
  json.Key("last_at").TimeOrNull(subscription.last_ms);
  json.Field("delivered", subscription.delivered).Field("failed", subscription.failed);
  const bool is_held = subscription.expires_ms > now_ms && !subscription.holder.empty();
  json.Key("delivered_by");
  is_held ? json.Value(string_view(subscription.holder)) : json.Null();
  json.Key("created_at").Time(subscription.created_ms);
  json.Key("updated_at").Time(subscription.updated_ms);
  json.EndObject();
}

std::string SubscriptionJson(const Subscription& subscription, std::int64_t now_ms,
                             const std::string& secret) {
  std::string body;
  JsonWriter json(body);
  WriteSubscription(json, subscription, now_ms, secret);
  return body;
}

std::string AuditDetail(const Subscription& subscription,
                        const std::optional<Subscription>& before) {
  std::string detail;
  JsonWriter json(detail);
  json.BeginObject();
  WriteWish(json, subscription, UrlForTheRecord(subscription.url));
  if (before) {
    json.Key("before").BeginObject();
    WriteWish(json, *before, UrlForTheRecord(before->url));
    json.EndObject();
  }
  json.EndObject();
  return detail;
}

}  // namespace tenure::push
