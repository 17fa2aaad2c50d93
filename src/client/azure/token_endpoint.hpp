#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "http/client.hpp"
#include "tenure/leases/azure.hpp"

/// What is asked of an endpoint that gives tokens, and what comes back. It throws leases::AccessDenied
/// where the endpoint says no, and leases::ProviderUnavailable; neither repeats a secret.
namespace tenure::client {

struct TokenRequest {
  std::string url{};
  http::Method method = http::Method::kGet;
  http::Client::Headers headers{};
  std::string form{};  ///< the body of a POST
  std::string ca_file{};
  std::string mode{};  ///< for messages
};

/// Any answer of at most 64 KiB; follows no redirect, takes no proxy from the environment.
http::ClientResponse AskForToken(const TokenRequest& request, std::chrono::milliseconds timeout);

/// The token of an answer. One without `expires_in` is refused: nobody knew when to renew it.
/// `until_counts`: an `expires_on` will do, by the clock of the endpoint's own Date (App Service says
/// nothing else).
leases::AccessToken ReadToken(const http::ClientResponse& response, std::string_view mode,
                              bool until_counts = false);

/// "name=value&…", encoded.
std::string FormBody(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

/// Throws std::invalid_argument unless the endpoint of an identity is on this machine or link-local
/// (169.254.0.0/16), where plain http is as good as it gets.
void CheckIdentityEndpoint(const std::string& url, const std::string& what);

}  // namespace tenure::client
