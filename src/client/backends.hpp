#pragma once

#include <memory>

#include "client/azure/address.hpp"
#include "client/jobs/backend.hpp"
#include "client/messages/backend.hpp"
#include "client/queues/backend.hpp"
#include "client/redis/address.hpp"
#include "client/store/local_store.hpp"
#include "tenure/leases/provider.hpp"

// The backends that a URL may name (open.cpp).
namespace tenure::client {

/// Leases of a Tenure server.
std::unique_ptr<leases::Provider> MakeHttpProvider(ServerAddress address);
/// Messages of a Tenure server. `lease`: how long a worker's claims outlive its last word.
std::unique_ptr<MessageBackend> MakeHttpBackend(const ServerAddress& address, Milliseconds lease);

/// Leases in a PostgreSQL database: the same tables as a Tenure server's, with which it contends.
/// Or in a SQLite file that the processes of one machine share. Brings the schema up to date.
/// Throws leases::ProviderUnavailable.
std::unique_ptr<leases::Provider> MakeStoreProvider(const StoreAddress& address);
/// Leases on a Redis. Throws leases::ProviderUnavailable, UnfitStore, AccessDenied,
/// std::invalid_argument.
std::unique_ptr<leases::Provider> MakeRedisProvider(RedisAddress address);
/// Leases as records in Azure: blobs of a storage account, documents of a Cosmos DB. Throws
/// leases::ProviderUnavailable, UnfitStore, AccessDenied, std::invalid_argument.
std::unique_ptr<leases::Provider> MakeAzureProvider(const AzureAddress& address,
                                                    const leases::AzureOptions& who);
/// Messages on a store of our own. Throws messages::Unavailable.
std::unique_ptr<MessageBackend> MakeStoreBackend(const StoreAddress& address);

/// An ordered queue of a Tenure server; on a store of our own. Throws queues::Unavailable.
std::unique_ptr<QueueBackend> MakeHttpQueue(const ServerAddress& address, const std::string& queue);
std::unique_ptr<QueueBackend> MakeStoreQueue(const StoreAddress& address, const std::string& queue);

/// Jobs of a Tenure server.
std::unique_ptr<JobBackend> MakeHttpJobs(const ServerAddress& address, Milliseconds timeout);
/// Jobs on a store of our own. Throws base::Fault, base::UserError.
std::unique_ptr<JobBackend> MakeStoreJobs(const StoreAddress& address,
                                          const JobBackendOptions& options);

}  // namespace tenure::client
