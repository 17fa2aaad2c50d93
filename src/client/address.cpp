#include "client/address.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "base/operator_url.hpp"

namespace tenure::client {
namespace {

ServerAddress SplitToken(std::string_view url) {
  if (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t host = url.find("://") + 3;
  const std::size_t at = url.find('@', host);
  if (at == std::string_view::npos) return {.base_url = std::string(url)};
  return {.base_url = fmt::format("{}{}", url.substr(0, host), url.substr(at + 1)),
          .token = std::string(url.substr(host, at - host))};
}

}  // namespace

void CheckToken(const ServerAddress& server, bool insecure) {
  if (server.token.empty() || insecure || !base::IsClearText(server.base_url)) return;
  throw std::invalid_argument(fmt::format(
      "the token would be sent to {} in clear text: use https://, or set the option `insecure`",
      server.base_url));
}

Address ParseAddress(std::string_view url, std::string_view what) {
  if (url.starts_with("postgres://") || url.starts_with("postgresql://"))
    return PostgresAddress{.url = std::string(url)};
  if (url.starts_with("http://") || url.starts_with("https://")) return SplitToken(url);
  for (const std::string_view prefix : {"sqlite://", "sqlite:"})
    if (url.starts_with(prefix) && url.size() > prefix.size())
      return SqliteAddress{.path = std::string(url.substr(prefix.size()))};
  throw std::invalid_argument(fmt::format(
      "{} are kept at postgres://…, sqlite:///path/to/file{} or http(s)://host:port", what,
      what == "leases"
          ? ", rediss://host, azblob://account/container, cosmos://account/database/container"
          : ""));
}

}  // namespace tenure::client
