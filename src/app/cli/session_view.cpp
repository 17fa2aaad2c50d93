#include "app/cli/session_view.hpp"

#include <utility>

#include <fmt/format.h>
#include <simdjson.h>

#include "app/cli/session_kind.hpp"
#include "base/error.hpp"
#include "base/time_parse.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using simdjson::dom::element;

base::UserError NotUnderstood(std::string_view why) {
  return base::UserError(fmt::format(
      "the server's answer is not understood ({}): is it Tenure that answers there?", why));
}

/// The text of a field; empty when it is missing or null. Any other type is refused.
std::string Text(const element& object, const char* field) {
  element value;
  if (object[field].get(value) != simdjson::SUCCESS || value.is_null()) return {};
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS)
    throw NotUnderstood(fmt::format("{} is no text", field));
  return std::string(text);
}

std::string Kind(const element& object) {
  std::int64_t number = 0;
  if (object["sessionKind"].get(number) != simdjson::SUCCESS)
    throw NotUnderstood("sessionKind is no number");
  return SessionKindText(number);
}

SessionView View(const element& object) {
  if (!object.is_object()) throw NotUnderstood("a session is no object");
  SessionView view;
  view.id = Text(object, "sessionId");
  if (view.id.empty()) throw NotUnderstood("sessionId is missing");
  view.user = Text(object, "userObjectId");
  view.tenant = Text(object, "tenantObjectId");
  view.capacity = Text(object, "capacityId");
  view.kind = Kind(object);
  view.start = Text(object, "sessionStartUtc");
  view.end = Text(object, "sessionEndUtc");
  if (object["isActive"].get(view.active) != simdjson::SUCCESS)
    throw NotUnderstood("isActive is neither true nor false");
  view.end_reason = Text(object, "endReason");
  view.status = Text(object, "status");
  view.previous_id = Text(object, "previousSessionId");
  return view;
}

element Document(simdjson::dom::parser& parser, std::string_view body) {
  element document;
  if (parser.parse(body.data(), body.size()).get(document) != simdjson::SUCCESS)
    throw NotUnderstood("it is no JSON");
  return document;
}

}  // namespace

SessionView ParseSession(std::string_view body) {
  simdjson::dom::parser parser;
  return View(Document(parser, body));
}

SessionPage ParseSessionPage(std::string_view body) {
  simdjson::dom::parser parser;
  const element document = Document(parser, body);
  simdjson::dom::array items;
  if (document["items"].get(items) != simdjson::SUCCESS) throw NotUnderstood("items are missing");
  SessionPage page;
  for (const element item : items) {
    page.items.push_back(View(item));
    page.json.push_back(simdjson::minify(item));
  }
  if (std::string cursor = Text(document, "nextCursor"); !cursor.empty())
    page.next_cursor = std::move(cursor);
  return page;
}

std::string LeftText(const SessionView& session, std::optional<std::int64_t> now_ms) {
  if (!session.active)
    return session.end_reason.empty() ? "ended" : fmt::format("ended ({})", session.end_reason);
  const std::optional<std::int64_t> end_ms = base::ParseUtcMs(session.end);
  return end_ms && now_ms ? base::SpanText(*end_ms - *now_ms) : "active";
}

std::string SessionText(const SessionView& session, std::optional<std::int64_t> now_ms) {
  const std::pair<std::string_view, std::string> lines[] = {
      {"session", session.id},
      {"kind", session.kind},
      {"user", session.user},
      {"tenant", session.tenant},
      {"capacity", session.capacity},
      {"start", session.start},
      {"end", session.end},
      {session.active ? "left" : "state", LeftText(session, now_ms)},
      {"replaces", session.previous_id},
  };
  std::string text;
  for (const auto& [name, value] : lines)
    if (!value.empty()) text += fmt::format("{:<10}{}\n", name, config::Printable(value));
  return text;
}

}  // namespace tenure::app
