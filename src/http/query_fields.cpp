#include <charconv>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "http/json_document.hpp"
#include "http/json_fields.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::size_t kMaxParameters = 64;

[[noreturn]] void RefuseQuery(std::string detail) {
  throw ProblemError({.status = 400,
                      .type = "invalid-request",
                      .title = "The request is not valid",
                      .detail = std::move(detail)});
}

std::string Decode(std::string_view text) {
  auto decoded = PercentDecode(text, PlusSign::kSpace);
  if (!decoded || !base::IsStorableText(*decoded))
    RefuseQuery("The query is not percent-encoded UTF-8 text.");
  return *std::move(decoded);
}

}  // namespace

QueryFields::QueryFields(std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (pair.empty()) continue;
    if (parameters_.size() == kMaxParameters)
      RefuseQuery(fmt::format("The query has more than {} parameters.", kMaxParameters));
    const std::size_t equals = pair.find('=');
    parameters_.push_back({Decode(pair.substr(0, equals)), equals == std::string_view::npos
                                                               ? std::string()
                                                               : Decode(pair.substr(equals + 1))});
  }
}

QueryFields::Parameter* QueryFields::Take(std::string_view name) {
  Parameter* first = nullptr;
  for (Parameter& parameter : parameters_) {
    if (parameter.name != name) continue;
    parameter.asked = true;
    if (first) {
      Wrong(name, "stands there more than once");
      return nullptr;
    }
    first = &parameter;
  }
  return first;
}

void QueryFields::Wrong(std::string_view name, std::string message) {
  errors_.push_back({std::string(name), std::move(message)});
}

std::optional<base::Uuid> QueryFields::Uuid(std::string_view name) {
  const Parameter* const parameter = Take(name);
  if (!parameter) return std::nullopt;
  const auto id = base::Uuid::Parse(parameter->value);
  if (!id) Wrong(name, "must be a UUID, such as 0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071");
  return id;
}

std::optional<std::int64_t> QueryFields::Integer(std::string_view name, std::int64_t least,
                                                 std::int64_t most) {
  const Parameter* const parameter = Take(name);
  if (!parameter) return std::nullopt;
  const char* const end = parameter->value.data() + parameter->value.size();
  std::int64_t value = 0;
  const auto [stopped, error] = std::from_chars(parameter->value.data(), end, value);
  if (error == std::errc() && stopped == end && value >= least && value <= most) return value;
  Wrong(name, fmt::format("must be a whole number from {} to {}", least, most));
  return std::nullopt;
}

std::optional<bool> QueryFields::Flag(std::string_view name) {
  const Parameter* const parameter = Take(name);
  if (!parameter) return std::nullopt;
  if (parameter->value == "true") return true;
  if (parameter->value == "false") return false;
  Wrong(name, "must be true or false");
  return std::nullopt;
}

std::optional<std::string> QueryFields::Text(std::string_view name, std::size_t max_bytes) {
  const Parameter* const parameter = Take(name);
  if (!parameter) return std::nullopt;
  if (parameter->value.size() <= max_bytes) return parameter->value;
  Wrong(name, fmt::format("must not be longer than {} bytes in UTF-8", max_bytes));
  return std::nullopt;
}

void QueryFields::Finish() {
  for (const Parameter& parameter : parameters_)
    if (!parameter.asked) Wrong(Printable(parameter.name, kMaxShownNameBytes), "is not known here");
  if (!errors_.empty()) throw ProblemError(InvalidRequest(std::move(errors_)));
}

}  // namespace tenure::http
