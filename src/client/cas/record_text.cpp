#include "client/cas/record_text.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/json_writer.hpp"

namespace tenure::client {
namespace {

using base::JsonView;

constexpr std::int64_t kRecordVersion = 1;
constexpr std::size_t kMostRecordBytes = 16UL * 1024;

/// Long enough for every name (200 bytes, each at most three) and every text of a record.
std::optional<std::string> StringIn(const JsonView& object, std::string_view field) {
  const auto value = object.Find(field);
  return value ? value->Text() : std::nullopt;
}

std::string TextIn(const JsonView& object, std::string_view field) {
  auto text = StringIn(object, field);
  if (!text) throw NoCasRecord(fmt::format("it has no text {}", field));
  return *std::move(text);
}

std::int64_t NumberIn(const JsonView& object, std::string_view field) {
  const auto value = object.Find(field);
  std::int64_t number = -1;
  if (value) {
    const std::string_view text = value->text();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) number = -1;
  }
  // Below 2^53, as everything that we write: sums of a few of them do not overflow.
  if (number < 0 || number > (std::int64_t{1} << 53))
    throw NoCasRecord(fmt::format("it has no number {} that makes sense", field));
  return number;
}

leases::LeaseState StateIn(const JsonView& object) {
  const std::string text = TextIn(object, "state");
  for (const auto state :
       {leases::LeaseState::kFree, leases::LeaseState::kHeld, leases::LeaseState::kBroken})
    if (text == leases::ToText(state)) return state;
  throw NoCasRecord("it has no state that we know");
}

leases::PastGrant ReadPast(const JsonView& object) {
  leases::PastGrant past;
  past.fence = NumberIn(object, "fence");
  past.term = TextIn(object, "term");
  past.holder = TextIn(object, "holder");
  past.granted_at_ms = NumberIn(object, "granted_ms");
  past.ended_at_ms = NumberIn(object, "ended_ms");
  past.reason =
      leases::ParseLossReason(TextIn(object, "reason")).value_or(leases::LossReason::kUnknown);
  past.detail = TextIn(object, "detail");
  return past;
}

std::string Written(const CasRecord& record, std::size_t past_grants) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject()
      .Field("version", kRecordVersion)
      .Field("state", leases::ToText(record.state))
      .Field("fence", record.fence)
      .Field("term", std::string_view(record.term))
      .Field("holder", std::string_view(record.holder));
  if (!record.metadata.empty()) json.Key("metadata").Raw(record.metadata);
  json.Field("ttl_ms", record.ttl_ms)
      .Field("granted_ms", record.granted_ms)
      .Field("reason", std::string_view(record.reason))
      .Field("free_at_s", record.free_at_s)
      .Field("drain_ms", record.drain_ms)
      .Key("past")
      .BeginArray();
  for (std::size_t i = 0; i < past_grants; ++i) {
    const leases::PastGrant& past = record.past[i];
    json.BeginObject()
        .Field("fence", past.fence)
        .Field("term", std::string_view(past.term))
        .Field("holder", std::string_view(past.holder))
        .Field("granted_ms", past.granted_at_ms)
        .Field("ended_ms", past.ended_at_ms)
        .Field("reason", leases::ToText(past.reason))
        .Field("detail", std::string_view(past.detail))
        .EndObject();
  }
  json.EndArray().EndObject();
  return out;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool StaysAsItIs(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

}  // namespace

std::string TextOf(const CasRecord& record) {
  std::size_t past_grants = record.past.size();
  std::string text = Written(record, past_grants);
  while (text.size() > kMostRecordBytes && past_grants > 0) text = Written(record, --past_grants);
  return text;
}

CasRecord ReadCasRecord(const JsonView& value) {
  if (value.kind() != JsonView::Kind::kObject) throw NoCasRecord("it is no record of a lease");
  const std::int64_t version = NumberIn(value, "version");
  if (version != kRecordVersion)
    throw NoCasRecord(
        fmt::format("it has version {}, and this program reads {}: a newer one wrote it", version,
                    kRecordVersion));
  CasRecord record;
  record.state = StateIn(value);
  record.fence = NumberIn(value, "fence");
  record.term = TextIn(value, "term");
  record.holder = TextIn(value, "holder");
  if (const auto metadata = value.Find("metadata")) record.metadata = metadata->text();
  record.ttl_ms = NumberIn(value, "ttl_ms");
  record.granted_ms = NumberIn(value, "granted_ms");
  record.reason = TextIn(value, "reason");
  record.free_at_s = NumberIn(value, "free_at_s");
  record.drain_ms = NumberIn(value, "drain_ms");
  const auto past = value.Find("past");
  if (!past || past->kind() != JsonView::Kind::kArray) throw NoCasRecord("it has no past grants");
  for (const JsonView& one : past->Values()) record.past.push_back(ReadPast(one));
  return record;
}

CasRecord ParseCasRecord(std::string_view text) {
  const auto value = JsonView::Parse(text);
  if (!value) throw NoCasRecord("it is not JSON");
  return ReadCasRecord(*value);
}

std::string EncodedLeaseName(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (StaysAsItIs(c))
      text += c;
    else
      text += fmt::format("~{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

std::optional<std::string> DecodedLeaseName(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (StaysAsItIs(text[i])) {
      name += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (text[i] != '~' || high < 0 || low < 0) return std::nullopt;
    name += static_cast<char>(high * 16 + low);
    i += 2;
  }
  // One text for each name: "~41" is no other way to write "A".
  if (!leases::IsLeaseName(name) || EncodedLeaseName(name) != text) return std::nullopt;
  return name;
}

}  // namespace tenure::client
