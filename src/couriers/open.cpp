#include "providers/open.hpp"

#include <unistd.h>

#include <stdexcept>

#include <fmt/format.h>

#include "couriers/courier.hpp"
#include "couriers/http_courier.hpp"
#include "couriers/store_courier.hpp"

namespace tenure::couriers {

std::unique_ptr<Courier> OpenCourier(std::string_view url, const CourierOptions& options) {
  if (url.starts_with("postgres://") || url.starts_with("postgresql://"))
    return OpenStore(PostgresEngine(std::string(url), options.pooled));
  if (const auto path = providers::SqlitePath(url)) return OpenStore(SqliteEngine(path->string()));
  if (url.starts_with("http://") || url.starts_with("https://")) {
    providers::ServerAddress address = providers::SplitToken(url);
    address.ca_file = options.ca_file;
    return OpenHttp(address, options.lease);
  }
  throw std::invalid_argument(
      "messages are kept at postgres://…, sqlite:///path/to/file or http(s)://host:port");
}

std::string DefaultOwner() {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}:{}", host, getpid());
}

}  // namespace tenure::couriers
