#include "providers/open.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "providers/http_provider.hpp"
#include "providers/store_provider.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::providers {

std::optional<std::filesystem::path> SqlitePath(std::string_view url) {
  for (const std::string_view prefix : {"sqlite://", "sqlite:"})
    if (url.starts_with(prefix) && url.size() > prefix.size())
      return std::filesystem::path(url.substr(prefix.size()));
  return std::nullopt;
}

ServerAddress SplitToken(std::string_view url) {
  if (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t host = url.find("://") + 3;
  const std::size_t at = url.find('@', host);
  if (at == std::string_view::npos) return {.base_url = std::string(url)};
  return {.base_url = std::string(url.substr(0, host)) + std::string(url.substr(at + 1)),
          .token = std::string(url.substr(host, at - host))};
}

}  // namespace tenure::providers

namespace tenure::leases {

std::unique_ptr<Provider> OpenProvider(std::string_view url, const ProviderOptions& options) {
  if (url.starts_with("postgres://") || url.starts_with("postgresql://"))
    return providers::OpenPostgres(std::string(url));
  if (const auto path = providers::SqlitePath(url)) return providers::OpenSqlite(*path);
  if (url.starts_with("http://") || url.starts_with("https://")) {
    providers::ServerAddress address = providers::SplitToken(url);
    address.ca_file = options.ca_file;
    return providers::OpenHttp(std::move(address));
  }
  throw std::invalid_argument(
      "leases are kept at postgres://…, sqlite:///path/to/file or http(s)://host:port");
}

std::unique_ptr<Manager> Open(std::string_view url, ManagerOptions options) {
  return std::make_unique<Manager>(OpenProvider(url, {.ca_file = options.ca_file}), options);
}

}  // namespace tenure::leases
