#pragma once

#include <string>
#include <string_view>

#include "http/client.hpp"

/// How requests to Azure are signed with an account's key. Pure.
namespace tenure::client {

struct AzureRequest {
  http::Method method = http::Method::kGet;
  std::string path{};  ///< encoded, with its query
  http::Client::Headers headers{};
  std::optional<std::string> body{};
  bool writes = false;  ///< without an answer its outcome is unknown
  // Of Cosmos DB, which signs these instead of the path:
  std::string resource_type{};
  std::string resource_link{};
};

/// The value of Authorization of a request to a storage account. `endpoint_path`: what stands behind
/// the endpoint's host, empty or "/account" (an emulator). REQUIRES: the headers have x-ms-date.
std::string SharedKeySignature(const AzureRequest& request, std::string_view account,
                               std::string_view endpoint_path, std::string_view key);

/// The same of a request to a Cosmos DB account; `date` is that of x-ms-date.
std::string MasterKeySignature(const AzureRequest& request, std::string_view date,
                               std::string_view key);

}  // namespace tenure::client
