#include "client/azure/signature.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "client/http/transport.hpp"
#include "client/url_parameters.hpp"

namespace tenure::client {
namespace {

std::string SignedBase64(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> code{};
  unsigned size = 0;
  const auto* const done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), code.data(), &size);
  TENURE_CHECK(done != nullptr, "OpenSSL cannot compute HMAC-SHA256");
  return base::EncodeBase64({reinterpret_cast<const char*>(code.data()), size});
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string_view HeaderOf(const AzureRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers)
    if (LowerCase(key) == LowerCase(name)) return value;
  return {};
}

}  // namespace

std::string SharedKeySignature(const AzureRequest& request, std::string_view account,
                               std::string_view endpoint_path, std::string_view key) {
  const std::size_t length = request.body ? request.body->size() : 0;
  // Encoding, language, length, MD5, type, date, if-modified-since, if-match, if-none-match,
  // if-unmodified-since, range.
  std::string text =
      fmt::format("{}\n\n\n{}\n\n{}\n\n\n{}\n{}\n\n\n", http::ToText(request.method),
                  length == 0 ? "" : std::to_string(length), request.body ? "application/json" : "",
                  HeaderOf(request, "If-Match"), HeaderOf(request, "If-None-Match"));
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : request.headers)
    if (LowerCase(name).starts_with("x-ms-")) sorted.emplace(LowerCase(name), value);
  for (const auto& [name, value] : sorted) text += fmt::format("{}:{}\n", name, value);

  const std::string_view path = request.path;
  const std::size_t question = std::min(path.find('?'), path.size());
  text += fmt::format("/{}{}{}", account, endpoint_path, path.substr(0, question));
  std::map<std::string, std::string> parameters;
  for (std::string_view query = path.substr(std::min(question + 1, path.size())); !query.empty();) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(part.find('='), part.size());
    parameters.emplace(LowerCase(part.substr(0, equals)),
                       PercentDecoded(part.substr(std::min(equals + 1, part.size()))));
  }
  for (const auto& [name, value] : parameters) text += fmt::format("\n{}:{}", name, value);
  return fmt::format("SharedKey {}:{}", account, SignedBase64(key, text));
}

std::string MasterKeySignature(const AzureRequest& request, std::string_view date,
                               std::string_view key) {
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n\n", LowerCase(http::ToText(request.method)),
                  LowerCase(request.resource_type), request.resource_link, LowerCase(date));
  return Encoded(fmt::format("type=master&ver=1.0&sig={}", SignedBase64(key, text)));
}

}  // namespace tenure::client
