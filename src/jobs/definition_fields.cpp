#include "jobs/definition_fields.hpp"

#include <array>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::jobs {
namespace {

/// What is longer is not read at all.
constexpr std::size_t kMostText = 16 << 10;
constexpr std::size_t kMostPayload = 64 << 20;
/// Ours: they say of a message that it is a run.
constexpr std::array<std::string_view, 3> kOwnHeaders = {
    "\"tenure-job\":", "\"tenure-nominal-time\":", "\"tenure-run\":"};

template <class Value>
Value ReadWord(http::JsonObject& fields, std::string_view name, Value otherwise,
               std::initializer_list<Value> values) {
  const auto text = fields.OptionalText(name, kMaxReasonBytes);
  if (!text) return otherwise;
  if (const auto value = http::OneOf(*text, values)) return *value;
  std::string words;
  for (const Value each : values) {
    if (!words.empty()) words += ", ";
    words += ToText(each);
  }
  fields.Refuse(name, "must be one of " + words);
  return otherwise;
}

void ReadEvery(const std::string& text, ReadDefinition& read) {
  const auto every_ms = base::ParseDurationMs(text);
  if (!every_ms || *every_ms < calendar::kLeastEveryMs || *every_ms > kMaxEveryMs)
    read.mistakes.push_back(
        {"every", "must be a duration from 1s to 366d, as in 90s, 1h30m or PT5M", {}});
  else
    read.definition.every_ms = *every_ms;
}

void ReadCronField(const std::string& text, ReadDefinition& read) {
  if (text.size() > kMaxExpressionBytes) {
    read.mistakes.push_back({"cron",
                             fmt::format("must have at most {} characters", kMaxExpressionBytes),
                             kMaxExpressionBytes});
    return;
  }
  const auto every = calendar::ParseAtEvery(text);
  if (!every) {
    read.definition.cron = text;
  } else if (const auto* problem = std::get_if<calendar::Problem>(&*every)) {
    read.mistakes.push_back({"cron", problem->message, problem->position});
  } else {
    read.definition.every_ms = std::get<std::int64_t>(*every);
  }
}

void CheckTopic(const std::string& topic, ReadDefinition& read) {
  if (topic.empty() || topic.size() > messages::kMaxTopicBytes)
    read.mistakes.push_back(
        {"topic", fmt::format("must have 1 to {} bytes", messages::kMaxTopicBytes), {}});
}

}  // namespace

void ReadTimes(http::JsonObject& fields, ReadDefinition& read) {
  const auto cron = fields.OptionalText("cron", kMostText);
  const auto every = fields.OptionalText("every", kMostText);
  if (cron && every)
    read.mistakes.push_back({"every", "goes without cron: a job has one of both", {}});
  else if (!cron && !every)
    read.mistakes.push_back({"cron", "is missing: a job has cron or every", {}});
  if (cron) ReadCronField(*cron, read);
  if (every && !cron) ReadEvery(*every, read);
  Definition& definition = read.definition;
  definition.zone = fields.OptionalText("time_zone", kMostText).value_or("UTC");
  definition.gap =
      ReadWord(fields, "gap", definition.gap, {GapPolicy::kEndOfGap, GapPolicy::kSkip});
  definition.repeat = ReadWord(fields, "repeat", definition.repeat,
                               {RepeatPolicy::kFirst, RepeatPolicy::kSecond, RepeatPolicy::kBoth});
}

ReadDefinition ReadFields(http::JsonObject& fields, std::size_t payload_max_bytes,
                          const calendar::Zones& zones) {
  ReadDefinition read;
  Definition& definition = read.definition;
  definition.topic = fields.Text("topic", kMostText);
  CheckTopic(definition.topic, read);
  ReadTimes(fields, read);
  definition.payload = fields.OptionalValue("payload", kMostPayload).value_or("null");
  if (definition.payload.size() > payload_max_bytes)
    read.mistakes.push_back(
        {"payload", fmt::format("must have at most {} bytes", payload_max_bytes), {}});
  definition.headers = fields.OptionalObject("headers", kMaxJobHeadersBytes).value_or("");
  for (const std::string_view own : kOwnHeaders)
    if (definition.headers.find(own) != std::string::npos)
      read.mistakes.push_back(
          {"headers", fmt::format("must not have {}", own.substr(0, own.size() - 1)), {}});
  definition.priority =
      static_cast<int>(fields.OptionalInteger("priority", 0, messages::kPriorities - 1)
                           .value_or(messages::kDefaultPriority));
  definition.enabled = fields.OptionalFlag("enabled").value_or(true);
  definition.missed =
      ReadWord(fields, "missed", definition.missed, {Missed::kSkip, Missed::kOnce, Missed::kAll});
  definition.missed_window_ms = fields.OptionalInteger("missed_window_ms", 1, kMaxMissedWindowMs)
                                    .value_or(definition.missed_window_ms);
  definition.missed_cap =
      fields.OptionalInteger("missed_cap", 1, kMaxMissedCap).value_or(definition.missed_cap);
  definition.overlap = ReadWord(fields, "overlap", definition.overlap,
                                {Overlap::kAllow, Overlap::kSkip, Overlap::kQueueOne});
  definition.jitter_ms = fields.OptionalInteger("jitter_ms", 0, kMaxJitterMs).value_or(0);
  definition.starts_ms = fields.OptionalTime("starts_at").value_or(0);
  definition.ends_ms = fields.OptionalTime("ends_at").value_or(0);
  definition.watch = fields.OptionalFlag("watch").value_or(false);
  // An expression that could not be read is no further mistake.
  Definition checked = definition;
  if (definition.cron.empty()) checked.every_ms = 1'000;
  for (Mistake& each : Times::Check(checked, zones)) read.mistakes.push_back(std::move(each));
  return read;
}

}  // namespace tenure::jobs
