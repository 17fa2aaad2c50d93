#include "api/github.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <openssl/hmac.h>

namespace tenure::api {

std::string SignatureOf(std::string_view body, std::string_view secret) {
  std::array<unsigned char, 32> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(body.data()), body.size(), digest.data(), &size);
  std::string signature = "sha256=";
  for (const unsigned char byte : digest) signature += fmt::format("{:02x}", byte);
  return signature;
}

void GitHub::Rotate(const std::string& secret) {
  secret_ = secret;
  support::ReplaceFile(SecretFile(), secret + "\n");
}

std::string GitHub::Bots(const std::string& bots, const std::string& more) const {
  return fmt::format(R"({{"sources":[{{"name":"{}","secrets":[{{"file":"{}"}}]{}}}],"bots":[{}]}})",
                     source_, SecretFile(), more, bots);
}

support::HttpHeaders GitHub::HeadersOf(const Sent& sent) const {
  support::HttpHeaders headers{{"X-GitHub-Event", sent.event},
                               {"X-GitHub-Delivery", sent.id},
                               {"X-GitHub-Hook-ID", "42"},
                               {"X-Hub-Signature-256", SignatureOf(sent.body, secret_)}};
  for (const auto& [name, value] : sent.headers) {
    std::erase_if(headers, [&, &by = name](const auto& header) { return header.first == by; });
    if (!value.empty()) headers.emplace_back(name, value);
  }
  return headers;
}

}  // namespace tenure::api
