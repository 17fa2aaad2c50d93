#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tenure/leases/provider.hpp"

namespace tenure::providers {

/// Leases in a PostgreSQL database: the same tables as a Tenure server's, with which it contends.
/// Brings the schema up to date. Throws leases::ProviderUnavailable.
std::unique_ptr<leases::Provider> OpenPostgres(const std::string& url);

/// Leases in a SQLite file that the processes of one machine share.
/// Throws leases::ProviderUnavailable.
std::unique_ptr<leases::Provider> OpenSqlite(const std::filesystem::path& path);

}  // namespace tenure::providers
