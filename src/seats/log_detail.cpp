#include "seats/log_detail.hpp"

#include <simdjson.h>

namespace tenure::seats {
namespace {

namespace dom = simdjson::dom;

std::optional<std::int64_t> IntegerOf(const dom::object& object, std::string_view name) {
  std::int64_t value = 0;
  if (object[name].get_int64().get(value)) return std::nullopt;
  return value;
}

std::optional<base::Uuid> UuidOf(const dom::object& object, std::string_view name) {
  std::string_view text;
  if (object[name].get_string().get(text)) return std::nullopt;
  return base::Uuid::Parse(text);
}

std::optional<LogHash> HashIn(const dom::object& object, std::string_view name) {
  std::string_view text;
  if (object[name].get_string().get(text)) return std::nullopt;
  return ParseLogHash(text);
}

bool ReadHeld(const dom::object& object, std::vector<LogDetail::Held>& held) {
  dom::array items;
  if (object["held"].get_array().get(items)) return false;
  for (const dom::element item : items) {
    dom::object one;
    if (item.get_object().get(one)) return false;
    const auto session = UuidOf(one, "session_id");
    const auto slot = IntegerOf(one, "slot");
    if (!session || !slot) return false;
    held.push_back({*session, *slot, IntegerOf(one, "fence").value_or(0)});
  }
  return true;
}

bool HasWhatItNeeds(LogKind kind, const LogDetail& detail) {
  switch (kind) {
    case LogKind::kLicenseCreated:
    case LogKind::kLicenseChanged:
      return detail.seats.has_value();
    case LogKind::kSeatResumed:
      return detail.former.has_value();
    case LogKind::kLogCheckpoint:
      return detail.seats && detail.before && detail.highest;
    default:
      return true;
  }
}

bool NeedsReading(LogKind kind, std::string_view detail) {
  switch (kind) {
    case LogKind::kLicenseCreated:
    case LogKind::kLicenseChanged:
    case LogKind::kSeatResumed:
    case LogKind::kSeatRevoked:
    case LogKind::kLogCheckpoint:
      return true;
    default:  // of the others only the clock counts, and few have one
      return detail.find("\"clock_ms\"") != std::string_view::npos;
  }
}

}  // namespace

std::optional<LogDetail> ReadLogDetail(LogKind kind, std::string_view detail) {
  LogDetail read;
  if (!NeedsReading(kind, detail)) return read;
  thread_local dom::parser parser;
  dom::object object;
  // Copied with the padding that the parser wants: entries come from anywhere.
  if (parser.parse(detail.data(), detail.size()).get_object().get(object)) return std::nullopt;
  read.clock_ms = IntegerOf(object, "clock_ms");
  read.seats = IntegerOf(object, "seats");
  bool force = false;
  read.force = !object["force"].get_bool().get(force) && force;
  read.former = UuidOf(object, "former");
  read.before = HashIn(object, "before");
  read.highest = IntegerOf(object, "highest");
  read.highest_at_ms = IntegerOf(object, "highest_at_ms").value_or(0);
  if (kind == LogKind::kLogCheckpoint && !ReadHeld(object, read.held)) return std::nullopt;
  if (!HasWhatItNeeds(kind, read)) return std::nullopt;
  return read;
}

}  // namespace tenure::seats
