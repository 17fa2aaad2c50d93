#include "http/idempotency.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view kHeader = "Idempotency-Key";
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

[[noreturn]] void Refuse(std::string message) {
  throw ProblemError(InvalidRequest({{std::string(kHeader), std::move(message)}}));
}

}  // namespace

std::optional<IdempotencyKey> FindIdempotencyKey(const Request& request,
                                                 std::string_view operation) {
  const auto key = request.FindHeader(kHeader);
  if (!key) return std::nullopt;
  const auto count =
      std::count_if(request.headers.begin(), request.headers.end(),
                    [](const Header& header) { return EqualsNoCase(header.name, kHeader); });
  if (count > 1) Refuse("stands there more than once");
  const bool visible =
      std::all_of(key->begin(), key->end(), [](char c) { return c > 0x20 && c < 0x7F; });
  if (key->empty() || key->size() > kMaxBytes || !visible)
    Refuse(fmt::format("must be 1 to {} visible ASCII characters", kMaxBytes));
  // Lengths in front: no two scopes can be written the same.
  const std::string tenant = request.principal->tenant.value_or("");
  return IdempotencyKey{
      fmt::format("{}:{}/{}:{}/{}/{}", tenant.size(), tenant, request.principal->person.size(),
                  request.principal->person, operation, *key),
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

}  // namespace tenure::http
