// What a URL opens.

#include <type_traits>
#include <utility>
#include <variant>

#include "client/backends.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases {

std::unique_ptr<Provider> OpenProvider(std::string_view url, const ProviderOptions& options) {
  if (client::IsRedisUrl(url))
    return client::MakeRedisProvider(client::ParseRedisUrl(url, options));
  if (client::IsAzureUrl(url))
    return client::MakeAzureProvider(client::ParseAzureUrl(url, options), options.azure);
  client::Address address = client::ParseAddress(url, "leases");
  if (auto* server = std::get_if<client::ServerAddress>(&address)) {
    client::CheckToken(*server, options.insecure);
    server->ca_file = options.ca_file;
    return client::MakeHttpProvider(std::move(*server));
  }
  if (const auto* file = std::get_if<client::SqliteAddress>(&address))
    return client::MakeStoreProvider(*file);
  return client::MakeStoreProvider(std::get<client::PostgresAddress>(address));
}

std::unique_ptr<Manager> Open(std::string_view url, ManagerOptions options) {
  return std::make_unique<Manager>(OpenProvider(url, {.ca_file = options.ca_file,
                                                      .insecure = options.insecure,
                                                      .allow_plaintext = options.allow_plaintext,
                                                      .azure = options.azure}),
                                   options);
}

}  // namespace tenure::leases

namespace tenure::client {

std::unique_ptr<MessageBackend> OpenMessages(std::string_view url,
                                             const MessageBackendOptions& options) {
  Address address = ParseAddress(url, "messages");
  if (auto* server = std::get_if<ServerAddress>(&address)) {
    CheckToken(*server, options.insecure);
    server->ca_file = options.ca_file;
    return MakeHttpBackend(*server, options.lease);
  }
  if (const auto* file = std::get_if<SqliteAddress>(&address)) return MakeStoreBackend(*file);
  auto& postgres = std::get<PostgresAddress>(address);
  postgres.pooled = options.pooled;
  return MakeStoreBackend(postgres);
}

std::unique_ptr<QueueBackend> OpenQueue(std::string_view url, const std::string& queue,
                                        const queues::ClientOptions& options) {
  if (queue.empty() || queue.size() > 100)
    throw std::invalid_argument("queue must be 1 to 100 bytes");
  Address address = ParseAddress(url, "queues");
  if (auto* server = std::get_if<ServerAddress>(&address)) {
    CheckToken(*server, options.insecure);
    server->ca_file = options.ca_file;
    return MakeHttpQueue(*server, queue);
  }
  if (const auto* file = std::get_if<SqliteAddress>(&address)) return MakeStoreQueue(*file, queue);
  auto& postgres = std::get<PostgresAddress>(address);
  postgres.pooled = options.pooled;
  return MakeStoreQueue(postgres, queue);
}

std::unique_ptr<JobBackend> OpenJobs(std::string_view url, const JobBackendOptions& options) {
  Address address = ParseAddress(url, "jobs");
  if (auto* server = std::get_if<ServerAddress>(&address)) {
    CheckToken(*server, options.insecure);
    server->ca_file = options.ca_file;
    return MakeHttpJobs(*server, options.timeout);
  }
  if (const auto* file = std::get_if<SqliteAddress>(&address)) return MakeStoreJobs(*file, options);
  auto& postgres = std::get<PostgresAddress>(address);
  postgres.pooled = options.pooled;
  return MakeStoreJobs(postgres, options);
}

}  // namespace tenure::client
