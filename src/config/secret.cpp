#include "config/secret.hpp"

#include <array>
#include <cctype>

#include <fmt/format.h>

namespace tenure::config {
namespace {

std::size_t AuthorityStart(std::string_view url) {
  const std::size_t scheme = url.find("://");
  return scheme == std::string_view::npos ? 0 : scheme + 3;
}

/// Where the last '@' that can end the user part stands. The last one of the whole text, because a
/// password whose '@', '/' or '?' was not percent-encoded must be hidden all the same.
std::size_t UserEnd(std::string_view url) {
  const std::size_t at = url.rfind('@');
  return at == std::string_view::npos || at < AuthorityStart(url) ? std::string_view::npos : at;
}

std::string HideUserPassword(std::string_view url) {
  const std::size_t end = UserEnd(url);
  if (end == std::string_view::npos) return std::string(url);
  const std::size_t colon = url.find(':', AuthorityStart(url));
  if (colon == std::string_view::npos || colon > end) return std::string(url);
  return fmt::format("{}:{}{}", url.substr(0, colon), kHidden, url.substr(end));
}

bool IsUnreserved(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

/// The parameter's name as libpq will understand it.
std::string Decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool encoded =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    out += encoded ? static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2])) : text[i];
    if (encoded) i += 2;
  }
  return out;
}

std::string HideParameter(std::string_view parameter) {
  static constexpr std::array<std::string_view, 2> kNames{"password", "sslpassword"};
  const std::size_t equals = parameter.find('=');
  const std::string name = Decoded(parameter.substr(0, equals));
  for (const std::string_view secret : kNames)
    if (name == secret) return fmt::format("{}={}", secret, kHidden);
  return std::string(parameter);
}

}  // namespace

std::string RedactedUrl(std::string_view url) {
  std::string out = HideUserPassword(url);
  const std::size_t query = out.find('?');
  if (query == std::string::npos) return out;
  std::string_view parameters = std::string_view(out).substr(query + 1);
  std::string hidden;
  while (true) {
    const std::size_t end = parameters.find('&');
    hidden += HideParameter(parameters.substr(0, end));
    if (end == std::string_view::npos) break;
    hidden += '&';
    parameters.remove_prefix(end + 1);
  }
  return out.substr(0, query + 1) + hidden;
}

bool HasPassword(std::string_view url) { return RedactedUrl(url) != url; }

std::string WithPassword(std::string_view url, const Secret& password) {
  std::string encoded = ":";
  for (const char c : password.Reveal()) {
    if (IsUnreserved(c))
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  const std::size_t start = AuthorityStart(url);
  const std::size_t slash = url.find_first_of("/?", start);
  const std::size_t at = url.substr(0, slash).find('@', start);
  if (at == std::string_view::npos)
    return fmt::format("{}{}@{}", url.substr(0, start), encoded, url.substr(start));
  return fmt::format("{}{}{}", url.substr(0, at), encoded, url.substr(at));
}

}  // namespace tenure::config
