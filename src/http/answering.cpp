#include "http/answering.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "http/router.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view kKeyHeader = "Idempotency-Key";
constexpr std::size_t kMaxBytes = 255;

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  TENURE_CHECK(done == 1, "OpenSSL has no SHA-256");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

/// What a request says: its body, and whatever of the path is not in the name of the operation.
std::string HashOf(const Request& request) {
  if (request.path_parameters.empty()) return Sha256(request.body);
  std::string said;
  for (const std::string& each : request.path_parameters)
    said += fmt::format("{}:{}/", each.size(), each);
  said += request.body;
  return Sha256(said);
}

}  // namespace

std::optional<base::IdempotencyKey> FindIdempotencyKey(const ExchangePtr& exchange) {
  const Request& request = exchange->request();
  const auto key = request.FindHeader(kKeyHeader);
  if (!key) return std::nullopt;
  const auto count =
      std::count_if(request.headers.begin(), request.headers.end(),
                    [](const Header& header) { return EqualsNoCase(header.name, kKeyHeader); });
  if (count > 1) RefuseField(std::string(kKeyHeader), "stands there more than once");
  const bool visible =
      std::all_of(key->begin(), key->end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (key->empty() || key->size() > kMaxBytes || !visible)
    RefuseField(std::string(kKeyHeader),
                fmt::format("must be 1 to {} visible ASCII characters", kMaxBytes));
  // Lengths in front: no two scopes can be written the same.
  const std::string tenant = request.principal->tenant.value_or("");
  return base::IdempotencyKey{
      fmt::format("{}:{}/{}:{}/{}/{}", tenant.size(), tenant, request.principal->person.size(),
                  request.principal->person, exchange->route().operation, *key),
      HashOf(request)};
}

Problem KeyOfAnotherRequest() {
  return {.status = 422,
          .type = "idempotency-key-reused",
          .title = "The idempotency key was used for another request",
          .detail =
              "A request with this Idempotency-Key and another path or body was answered before. "
              "Choose a new key for a new request."};
}

Problem KeyUnderWay() {
  return {.status = 409,
          .type = "under-way",
          .title = "The first request with this key is under way",
          .detail = "Send the request again to get its answer.",
          .retry_after_s = 1};
}

void ReplyMade(const ExchangePtr& exchange, base::StoredAnswer answer) {
  Response response{.status = static_cast<int>(answer.status), .body = std::move(answer.body)};
  if (!answer.location.empty())
    response.headers.emplace_back("Location", std::move(answer.location));
  exchange->Reply(std::move(response));
}

void ReplyStored(const ExchangePtr& exchange, base::StoredAnswer answer) {
  // It may come from the store, where somebody may have written anything.
  const bool sound =
      answer.status >= 200 && answer.status <= 599 &&
      (answer.body.empty() || base::IsJson(answer.body)) &&
      std::ranges::all_of(answer.location, [](char c) { return c > ' ' && c < 0x7F; });
  if (!sound)
    return exchange->Reply(
        base::Fault(base::FaultKind::kStatement, "the answer that is kept makes no sense"));
  ReplyMade(exchange, std::move(answer));
}

}  // namespace tenure::http
