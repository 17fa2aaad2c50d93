#include "inbox/json.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"

namespace tenure::inbox {
namespace {

using base::JsonWriter;

/// JSON that was checked when it came in.
void WriteResult(JsonWriter& json, const std::string& result) {
  if (!result.empty()) json.Key("result").Raw(result);
}

/// Where an entry stands, for people: also a claim whose lease has passed is told.
std::string_view Standing(const EntryRow& row, std::int64_t now_ms) {
  if (row.state == State::kClaimed && row.lease_until_ms <= now_ms) return "lapsed";
  return ToText(row.state);
}

std::string Explain(std::int64_t fence, const FinishOutcome& outcome) {
  if (outcome.fence == fence) {
    switch (outcome.state) {
      case State::kDone:
        return fmt::format("The claim with fence {} has completed the message.", fence);
      case State::kDead:
        return fmt::format("The message was given up; fence {} was its last claim.", fence);
      default:
        return fmt::format("The claim with fence {} has failed; the message is tried again at {}.",
                           fence, base::UtcText(outcome.until_ms));
    }
  }
  switch (outcome.state) {
    case State::kClaimed:
      return fmt::format("Fence {} is not the latest: fence {} holds the message until {}.", fence,
                         outcome.fence, base::UtcText(outcome.until_ms));
    case State::kDone:
      return fmt::format("Fence {} is not the latest: fence {} has completed the message.", fence,
                         outcome.fence);
    default:
      return fmt::format("Fence {} is not the latest: fence {} was, and has failed.", fence,
                         outcome.fence);
  }
}

}  // namespace

std::string BeginJson(const BeginOutcome& outcome) {
  std::string body;
  body.reserve(outcome.result.size() + 160);
  JsonWriter json(body);
  json.BeginObject().Field("outcome", ToText(outcome.kind));
  switch (outcome.kind) {
    case BeginOutcome::Kind::kProcess:
      json.Field("fence", outcome.fence).Key("until").Time(outcome.until_ms);
      json.Field("attempts", outcome.attempts).Field("crashes", outcome.crashes);
      break;
    case BeginOutcome::Kind::kInProgress:
      json.Key("until").Time(outcome.until_ms);
      json.Field("retrying", outcome.retrying);
      break;
    case BeginOutcome::Kind::kDone:
      WriteResult(json, outcome.result);
      break;
    case BeginOutcome::Kind::kConflict:
      json.Field("hash", std::string_view(outcome.hash));
      break;
    case BeginOutcome::Kind::kDead:
      json.Field("error", std::string_view(outcome.error));
      break;
  }
  json.EndObject();
  return body;
}

std::string FinishJson(const FinishOutcome& outcome) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Field("state", ToText(outcome.state)).Field("fence", outcome.fence);
  if (outcome.state == State::kRetrying) json.Key("until").Time(outcome.until_ms);
  json.Field("attempts", outcome.attempts).EndObject();
  return body;
}

std::string EntryJson(const MessageKey& key, const EntryRow& row, std::int64_t now_ms) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject()
      .Field("source", std::string_view(key.source))
      .Field("message_id", std::string_view(key.message_id))
      .Field("state", Standing(row, now_ms))
      .Field("fence", row.fence);
  if (!row.hash.empty()) json.Field("hash", std::string_view(row.hash));
  if (row.state == State::kClaimed) json.Key("until").Time(row.lease_until_ms);
  if (row.state == State::kRetrying) json.Key("until").Time(row.not_before_ms);
  json.Field("attempts", row.attempts).Field("crashes", row.crashes);
  WriteResult(json, row.result);
  if (!row.error.empty()) json.Field("error", std::string_view(row.error));
  json.Key("received_at").Time(row.received_ms);
  json.Key("updated_at").Time(row.updated_ms);
  json.Key("now").Time(now_ms);
  json.EndObject();
  return body;
}

http::Problem StaleProblem(std::int64_t fence, const FinishOutcome& outcome) {
  http::Problem problem{
      .status = 409, .type = "inbox-stale", .title = "This claim on the message is over"};
  problem.detail = Explain(fence, outcome);
  std::string state;
  JsonWriter(state).Value(ToText(outcome.state));
  problem.extensions = {{"state", state}, {"fence", std::to_string(outcome.fence)}};
  return problem;
}

}  // namespace tenure::inbox
