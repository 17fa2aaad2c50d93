#include "webhooks/examine.hpp"

#include <algorithm>

#include "base/json_writer.hpp"
#include "base/utf8.hpp"
#include "http/answering.hpp"
#include "http/router.hpp"
#include "http/text.hpp"
#include "webhooks/rules/form.hpp"
#include "webhooks/rules/signature.hpp"

namespace tenure::webhooks {
namespace {

constexpr std::size_t kMaxEventBytes = 64;
constexpr std::size_t kMaxIdBytes = 100;
constexpr std::string_view kFormType = "application/x-www-form-urlencoded";
constexpr std::string_view kSignatureHeader = "X-Hub-Signature-256";

bool IsEventName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxEventBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool IsVisible(std::string_view text) {
  return text.size() <= kMaxIdBytes &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

/// The value of a header that may stand there once. Nothing: it is not there, or more than once.
std::optional<std::string_view> Once(const http::Request& request, std::string_view name) {
  std::optional<std::string_view> value;
  for (const http::Header& header : request.headers) {
    if (!http::EqualsNoCase(header.name, name)) continue;
    if (value) return std::nullopt;
    value = header.value;
  }
  return value;
}

std::string HeadersJson(const http::Request& request) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject();
  for (const std::string_view name :
       {"X-GitHub-Delivery", "X-GitHub-Event", "X-GitHub-Hook-ID",
        "X-GitHub-Hook-Installation-Target-ID", "X-GitHub-Hook-Installation-Target-Type",
        "X-GitHub-Enterprise-Host", "X-GitHub-Enterprise-Version", "Content-Type", "User-Agent"})
    if (const auto value = request.FindHeader(name)) json.Field(name, base::Printable(*value));
  json.EndObject();
  return out;
}

void ReadHeaders(const http::Request& request, Knock& knock) {
  Delivery& delivery = *knock.delivery;
  std::vector<http::FieldError> errors;
  const auto read = [&](std::string_view name, std::string& into, auto is_proper,
                        std::string rule) {
    const auto value = Once(request, name);
    if (value && is_proper(*value))
      into = *value;
    else
      errors.push_back({std::string(name), std::move(rule)});
  };
  read("X-GitHub-Event", delivery.event, IsEventName,
       "must be there once, of a-z, 0-9 and _, at most 64");
  read(
      "X-GitHub-Delivery", delivery.delivery_id,
      [](std::string_view text) { return !text.empty() && IsVisible(text); },
      "must be there once, of at most 100 visible ASCII characters");
  if (request.FindHeader("X-GitHub-Hook-ID"))
    read("X-GitHub-Hook-ID", delivery.hook, IsVisible,
         "must be there once at most, of at most 100 visible ASCII characters");
  if (!errors.empty()) knock.mistaken = http::InvalidRequest(std::move(errors));
}

void ReadContent(const http::Route& route, const http::Request& request, Knock& knock) {
  if (request.FindHeader("Content-Encoding")) {
    knock.mistaken = http::Problem{.status = 415,
                                   .type = "unsupported-media-type",
                                   .title = "This encoding of content is not understood here",
                                   .detail = "Send the body without a Content-Encoding."};
    knock.mistake = Outcome::kUnsupported;
    return;
  }
  try {
    http::CheckContentType(route, request);
  } catch (const http::ProblemError& error) {
    knock.mistaken = error.problem();
    knock.mistake = Outcome::kUnsupported;
    return;
  }
  const std::string_view type = *request.FindHeader("Content-Type");
  knock.delivery->content_type = base::Printable(type);
  knock.form = http::StartsWithNoCase(http::Trim(type), kFormType);
}

Refusal NoPayload(std::string detail) {
  return {{.status = 400,
           .type = "invalid-json",
           .title = "The body is not the JSON that is expected",
           .detail = std::move(detail)},
          Outcome::kInvalid};
}

}  // namespace

Knock KnockOf(const http::ExchangePtr& exchange, std::string source,
              SecretKeeper::Secrets secrets) {
  const http::Request& request = exchange->request();
  Knock knock;
  knock.secrets = std::move(secrets);
  knock.delivery = std::make_shared<Delivery>();
  knock.delivery->keeps = exchange;
  knock.delivery->source = std::move(source);
  knock.delivery->body = request.body;
  knock.delivery->headers = HeadersJson(request);
  if (const auto trace = http::TraceParentOf(request))
    knock.delivery->trace = FormatTraceParent(*trace);
  for (const http::Header& header : request.headers)
    if (http::EqualsNoCase(header.name, kSignatureHeader))
      knock.signatures.emplace_back(header.value);
  ReadContent(exchange->route(), request, knock);
  if (!knock.mistaken) ReadHeaders(request, knock);
  return knock;
}

std::optional<Refusal> Examine(Knock& knock) {
  Delivery& delivery = *knock.delivery;
  const std::vector<std::string_view> given(knock.signatures.begin(), knock.signatures.end());
  if (!rules::IsSigned(delivery.body, given, *knock.secrets))
    return Refusal{BadSignature(), Outcome::kBadSignature};
  if (knock.mistaken) return Refusal{*std::move(knock.mistaken), knock.mistake};
  delivery.signature = knock.signatures.front();
  if (knock.form) {
    auto payload = rules::PayloadOfForm(delivery.body);
    if (!payload) return NoPayload("A form must have one field, payload.");
    delivery.decoded = *std::move(payload);
  }
  delivery.payload = rules::Payload::Parse(knock.form ? delivery.decoded : delivery.body);
  if (!delivery.payload) return NoPayload("The payload is not one JSON object.");
  return std::nullopt;
}

http::Problem BadSignature() {
  return {.status = 401,
          .type = "bad-signature",
          .title = "The signature is none of this source",
          .detail =
              "X-Hub-Signature-256 must be there once, made of the body with one of the "
              "source's secrets."};
}

}  // namespace tenure::webhooks
