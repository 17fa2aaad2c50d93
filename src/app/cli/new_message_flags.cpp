#include "app/cli/new_message_flags.hpp"

#include <simdjson.h>

#include "app/cli/flag_values.hpp"
#include "app/cli/usage_error.hpp"
#include "base/json_writer.hpp"

namespace tenure::app {
namespace {

constexpr std::int64_t kMostDelayMs = 100LL * 365 * 86'400'000;

/// It goes into the body as it is, so it must be one JSON value and nothing more.
void CheckJson(const std::string& text) {
  simdjson::dom::parser parser;
  if (parser.parse(text).error() != simdjson::SUCCESS)
    throw UsageError("JSON: a JSON value is expected; text needs its quotes, '\"like this\"'");
}

}  // namespace

void NewMessageFlags::Declare(Flags& flags) {
  using enum Flags::Need;
  flags.Add(Flags::Argument{"TOPIC", "The topic.", &topic_});
  flags.Add(Flags::Argument{"JSON", "The payload.", &payload_});
  flags.Add(
      Flags::Value{"--due", "TIME", "Not before, such as 2026-01-31T12:00:00Z.", kOptional, &due_});
  flags.Add(Flags::Value{"--delay", "DURATION", "The same, from now.", kOptional, &delay_});
  flags.Add(Flags::Value{"--priority", "0-9", "0 is first [5].", kOptional, &priority_});
  flags.Add(Flags::Value{"--correlation-id", "TEXT", "Travels with it.", kOptional, &correlation_});
}

std::string NewMessageFlags::Body(const std::optional<std::string>& dedup_key) const {
  CheckJson(payload_);
  if (due_ && delay_) throw UsageError("give one of --due and --delay");
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("topic", std::string_view(topic_)).Key("payload").Raw(payload_);
  if (due_) json.Field("due_at", std::string_view(*due_));
  if (delay_)
    json.Field("delay_ms",
               DurationFlag("--delay", *delay_, {.least_ms = 0, .most_ms = kMostDelayMs}));
  if (priority_)
    json.Field("priority", NumberFlag("--priority", *priority_, {.least = 0, .most = 9}));
  if (correlation_) json.Field("correlation_id", std::string_view(*correlation_));
  if (dedup_key) json.Field("dedup_key", std::string_view(*dedup_key));
  json.EndObject();
  return body;
}

}  // namespace tenure::app
