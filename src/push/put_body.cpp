#include "push/put_body.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "http/json_value.hpp"
#include "push/signature.hpp"
#include "queues/queue.hpp"

namespace tenure::push {
namespace {

using http::JsonFields;

constexpr std::size_t kMaxHeadersJson = 16 << 10;
constexpr std::size_t kMaxSecretText = 200;
constexpr std::string_view kSecretRule = "must be whsec_ and base64 of 24 to 64 bytes";

/// A name may be of any length and of any characters; a part of it need not be text.
bool IsShown(std::string_view name) {
  return name.size() <= kMaxHeaderNameBytes &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

std::optional<HeaderValues> ReadHeaders(JsonFields& fields,
                                        std::vector<http::FieldError>& impossible) {
  const auto object = fields.OptionalObject("headers", kMaxHeadersJson);
  if (!object) return std::nullopt;
  const auto parsed = http::JsonValue::Parse(*object);
  const auto members = parsed ? parsed->TextMembers() : std::nullopt;
  if (!members) {
    fields.Refuse("headers", "must be an object whose values are texts");
    return std::nullopt;
  }
  if (members->size() > kMaxHeaders)
    impossible.push_back({"headers", fmt::format("must not be more than {}", kMaxHeaders)});
  for (const auto& [name, value] : *members)
    if (const auto problem = HeaderProblem(name, value))
      impossible.push_back({IsShown(name) ? "headers." + name : "headers", std::string(*problem)});
  return *members;
}

/// `queue` says in so many words what `topic` may say as queue:NAME.
std::string ReadTopic(JsonFields& fields) {
  const auto queue = fields.OptionalText("queue", queues::kMaxNameBytes);
  if (!queue) return fields.NonEmptyText("topic", messages::kMaxTopicBytes);
  if (fields.OptionalText("topic", messages::kMaxTopicBytes))
    fields.Refuse("queue", "cannot stand beside topic");
  if (queue->empty()) fields.Refuse("queue", "must not be empty");
  return queues::QueueTopic(*queue);
}

Format ReadFormat(JsonFields& fields) {
  const auto text = fields.OptionalText("format", 20);
  if (!text) return Format::kBinary;
  const auto format = http::OneOf(*text, {Format::kBinary, Format::kStructured});
  if (!format) fields.Refuse("format", "must be binary or structured");
  return format.value_or(Format::kBinary);
}

}  // namespace

http::Problem NoSuchMeaning(std::vector<http::FieldError> impossible) {
  http::Problem problem = http::InvalidRequest(std::move(impossible));
  problem.status = 422;
  problem.type = "invalid-subscription";
  problem.title = "There cannot be such a subscription";
  return problem;
}

void RefuseMeaning(std::vector<http::FieldError> impossible) {
  if (!impossible.empty()) throw http::ProblemError(NoSuchMeaning(std::move(impossible)));
}

std::optional<std::string> ReadSecret(JsonFields& fields,
                                      std::vector<http::FieldError>& impossible) {
  auto secret = fields.OptionalText("secret", kMaxSecretText);
  if (secret && !ParseSigningSecret(*secret))
    impossible.push_back({"secret", std::string(kSecretRule)});
  return secret;
}

PutCommand ReadPutBody(std::string_view body, SubscriptionKey key,
                       const std::vector<AllowedHost>& allowed) {
  PutCommand put;
  put.key = std::move(key);
  std::vector<http::FieldError> impossible;
  if (!IsSubscriptionName(put.key.name))
    impossible.push_back(
        {"name", fmt::format("must be 1 to {} of A-Z a-z 0-9 . _ -", kMaxNameBytes)});
  JsonFields fields(body);
  put.topic = ReadTopic(fields);
  put.url = fields.NonEmptyText("url", kMaxUrlBytes);
  put.max_in_flight =
      fields.OptionalInteger("max_in_flight", 1, kMostInFlight).value_or(kDefaultInFlight);
  put.timeout_ms = fields.OptionalInteger("timeout_ms", kLeastTimeoutMs, kMostTimeoutMs)
                       .value_or(kDefaultTimeoutMs);
  put.format = ReadFormat(fields);
  put.enabled = fields.OptionalFlag("enabled");
  put.secret = ReadSecret(fields, impossible);
  put.headers = ReadHeaders(fields, impossible);
  fields.Finish();
  if (auto problem = TargetProblem(allowed, put.url))
    impossible.push_back({"url", *std::move(problem)});
  RefuseMeaning(std::move(impossible));
  return put;
}

}  // namespace tenure::push
