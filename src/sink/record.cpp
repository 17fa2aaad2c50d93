#include "sink/record.hpp"

#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "http/json_fields.hpp"

namespace tenure::sink {
namespace {

using http::JsonFields;
using http::JsonObject;

constexpr std::size_t kMaxRecordIdBytes = 64;
constexpr std::size_t kMaxNumberBytes = 32;

/// The window's number in "<window>-<session>".
std::int64_t WindowOf(JsonObject& fields, const base::Uuid& session) {
  const std::string id = fields.NonEmptyText("recordId", kMaxRecordIdBytes);
  const std::size_t dash = std::min(id.find('-'), id.size());
  std::int64_t window = 0;
  std::from_chars(id.data(), id.data() + dash, window);
  const bool right =
      window > 0 && window <= kMaxWindow && id == fmt::format("{}-{}", window, session.ToString());
  if (!id.empty() && !right)
    fields.Refuse("recordId", "must be the window's number, '-' and the sessionId");
  return window;
}

std::int64_t TimeOf(JsonObject& fields, std::string_view name) {
  const auto ms = fields.OptionalTime(name);
  if (!ms && !fields.Has(name)) fields.Refuse(name, "is required");
  return ms.value_or(0);
}

/// The number's own digits: a parser's double would not be exact.
std::int64_t UsageOf(JsonObject& fields) {
  const auto text = fields.OptionalJson("usage", kMaxNumberBytes);
  const auto micros = ParseMicros(text.value_or(""));
  const bool right = micros && *micros <= kMaxRecordMicros;
  if (!right) fields.Refuse("usage", "must be a number with exactly six decimal places");
  return right ? *micros : 0;
}

Record ReadRecord(JsonObject& fields) {
  Record record;
  record.session = fields.Uuid("sessionId");
  record.window = WindowOf(fields, record.session);
  record.user = fields.Uuid("userObjectId");
  record.tenant = fields.Uuid("tenantObjectId");
  record.capacity = fields.Uuid("capacityId");
  record.kind = fields.Integer("sessionKind", 1, 3);
  record.start_ms = TimeOf(fields, "windowStartUtc");
  record.end_ms = TimeOf(fields, "windowEndUtc");
  if (record.end_ms <= record.start_ms)
    fields.Refuse("windowEndUtc", "must be later than windowStartUtc");
  record.usage = UsageOf(fields);
  return record;
}

}  // namespace

std::optional<std::int64_t> ParseMicros(std::string_view text) {
  const auto micros = base::ParseMillionths(text);
  return micros && base::MillionthsText(*micros) == text ? micros : std::nullopt;
}

std::vector<Record> ReadRecords(std::string_view body) {
  // The reader of requests wants an object. What is no array, or goes on behind one, is no value of
  // this member or brings members that nobody asks for: refused either way.
  std::string wrapped = fmt::format("{{\"records\":{}}}", body);
  wrapped.reserve(wrapped.size() + http::Request::kBodyPadding);
  JsonFields fields(wrapped);
  std::vector<Record> records;
  std::set<std::pair<base::Uuid, std::int64_t>> keys;
  fields.Objects("records", kMaxRecords, [&](JsonObject& one) {
    records.push_back(ReadRecord(one));
    const Record& record = records.back();
    if (!keys.emplace(record.session, record.window).second)
      one.Refuse("recordId", "stands there more than once");
  });
  fields.Finish();
  if (records.empty())
    throw http::ProblemError(http::InvalidRequest({{"records", "must not be empty"}}));
  return records;
}

std::string RecordId(const Record& record) {
  return fmt::format("{}-{}", record.window, record.session.ToString());
}

void WriteRecord(base::JsonWriter& json, const Record& record) {
  json.BeginObject()
      .Field("recordId", RecordId(record))
      .Field("sessionId", record.session)
      .Field("userObjectId", record.user)
      .Field("tenantObjectId", record.tenant)
      .Field("capacityId", record.capacity)
      .Field("sessionKind", record.kind);
  json.Key("windowStartUtc").Time(record.start_ms).Key("windowEndUtc").Time(record.end_ms);
  json.Key("usage").Raw(base::MillionthsText(record.usage)).EndObject();
}

}  // namespace tenure::sink
