#include "cli/flags.hpp"

#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/time_text.hpp"
#include "base/uuid.hpp"
#include "config/printable.hpp"

namespace tenure::cli {
namespace {

UsageError IsNot(const Flag& flag, std::string_view text, std::string_view what) {
  return UsageError(fmt::format("{}: {} is not {}", flag.name, config::Quoted(text), what));
}

}  // namespace

std::string Uuid(const Flag& flag, const std::string& text) {
  if (const auto id = base::Uuid::Parse(text)) return id->ToString();
  throw IsNot(flag, text, "a UUID, like 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30");
}

std::string Time(const Flag& flag, const std::string& text) {
  if (base::ParseRfc3339Ms(text)) return text;
  throw IsNot(flag, text, "a time such as 2026-01-31T12:00:00Z");
}

std::string Word(const Flag& flag, const std::string& text) {
  std::string words(flag.placeholder);
  if (!text.empty() && text.find('|') == std::string::npos &&
      ("|" + words + "|").find("|" + text + "|") != std::string::npos)
    return text;
  words.replace(words.rfind('|'), 1, " or ");
  for (std::size_t at = 0; (at = words.find('|', at)) != std::string::npos;)
    words.replace(at, 1, ", ");
  throw IsNot(flag, text, words);
}

std::string Json(const Flag& flag, const std::string& text) {
  simdjson::dom::parser parser;
  if (parser.parse(text).error() == simdjson::SUCCESS) return text;
  throw UsageError(fmt::format(
      "{}: a JSON value is expected; text needs its quotes, '\"like this\"'", flag.name));
}

Check Number(std::int64_t least, std::int64_t most) {
  return [=](const Flag& flag, const std::string& text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec == std::errc{} && parsed.ptr == end && number >= least && number <= most)
      return std::to_string(number);
    throw IsNot(flag, text, fmt::format("a number from {} to {}", least, most));
  };
}

Check Duration(const DurationBounds& bounds) {
  return [=](const Flag& flag, const std::string& text) {
    const auto ms = base::ParseDurationMs(text);
    if (ms && *ms >= bounds.least_ms && *ms <= bounds.most_ms) return std::to_string(*ms);
    throw IsNot(flag, text,
                fmt::format("a duration from {} to {}", base::DurationText(bounds.least_ms),
                            base::DurationText(bounds.most_ms)));
  };
}

std::int64_t ToNumber(const std::string& checked) {
  std::int64_t number = 0;
  std::from_chars(checked.data(), checked.data() + checked.size(), number);
  return number;
}

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~')
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

}  // namespace tenure::cli
