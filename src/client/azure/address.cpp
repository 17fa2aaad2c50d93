#include "client/azure/address.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include <fmt/format.h>

#include "client/url_parameters.hpp"

namespace tenure::client {
namespace {

constexpr std::string_view kBlobScheme = "azblob://";
constexpr std::string_view kCosmosScheme = "cosmos://";
constexpr std::size_t kMostBlobPrefixBytes = 200;

[[noreturn]] void RefuseAzureAddress(std::string_view why) {
  throw std::invalid_argument(fmt::format("the address of the Azure store {}", why));
}

/// Of an account, a container, a database: what Azure allows and a path needs no encoding for.
void CheckWord(const std::string& word, std::string_view what, std::string_view also) {
  const bool plain = std::ranges::all_of(word, [&](char c) {
    return (std::isalnum(static_cast<unsigned char>(c)) != 0) || also.find(c) != also.npos;
  });
  if (!plain || word.size() > 255 || word == "." || word == "..")
    RefuseAzureAddress(fmt::format("has a {} with characters that it cannot have", what));
}

std::string TakeStep(std::string_view& path) {
  const std::size_t slash = std::min(path.find('/'), path.size());
  std::string step(path.substr(0, slash));
  path.remove_prefix(std::min(slash + 1, path.size()));
  return step;
}

void ReadPath(std::string_view path, AzureAddress& address) {
  address.account = TakeStep(path);
  if (address.account.empty()) RefuseAzureAddress("names no account");
  CheckWord(address.account, "account", "-");
  if (address.cosmos) {
    address.database = TakeStep(path);
    if (address.database.empty()) RefuseAzureAddress("names no database");
    CheckWord(address.database, "database", "-_.");
  }
  address.container = TakeStep(path);
  if (address.container.empty()) RefuseAzureAddress("names no container");
  CheckWord(address.container, "container", address.cosmos ? "-_." : "-");
  const bool has_capitals =
      std::ranges::any_of(address.container, [](unsigned char c) { return std::isupper(c) != 0; });
  if (!address.cosmos &&
      (address.container.size() < 3 || address.container.size() > 63 || has_capitals))
    RefuseAzureAddress("has a container that is not 3 to 63 small letters, digits and hyphens");
  address.prefix = path;
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  if (address.prefix.empty()) return;
  if (address.cosmos) RefuseAzureAddress("has something behind the container");
  if (address.prefix.size() > kMostBlobPrefixBytes) RefuseAzureAddress("has a long prefix");
  for (std::string_view steps = address.prefix; !steps.empty();) {
    const std::string step = TakeStep(steps);
    if (step.empty()) RefuseAzureAddress("has a prefix with an empty step");
    CheckWord(step, "prefix", "-_.");
  }
  address.prefix += '/';
}

void ReadAzureParameters(std::string_view query, AzureAddress& address) {
  using leases::Milliseconds;
  UrlParameters parameters(query);
  if (const auto endpoint = parameters.Text("endpoint")) {
    address.endpoint = CheckedEndpoint(*endpoint, "the parameter endpoint of the address");
    address.own_endpoint = true;
  }
  address.create = parameters.Number("create", 0, 1).value_or(0) == 1;
  address.poll = parameters.Duration("poll", Milliseconds(10), Milliseconds(60'000))
                     .value_or(Milliseconds(1'000));
  address.clock_skew = parameters.Duration("clock_skew", Milliseconds(0), Milliseconds(600'000))
                           .value_or(Milliseconds(2'000));
  address.min_ttl = parameters.Duration("min_ttl", leases::kMinTtl, leases::kMaxTtl)
                        .value_or(Milliseconds(5'000));
  address.parallel = static_cast<int>(parameters.Number("parallel", 1, 64).value_or(8));
  address.ca_file = parameters.Text("ca_file").value_or("");
  parameters.Finish();
}

std::string UsualEndpoint(const AzureAddress& address) {
  return address.cosmos ? fmt::format("https://{}.documents.azure.com:443", address.account)
                        : fmt::format("https://{}.blob.core.windows.net", address.account);
}

}  // namespace

bool IsAzureUrl(std::string_view url) {
  return url.starts_with(kBlobScheme) || url.starts_with(kCosmosScheme);
}

AzureAddress ParseAzureUrl(std::string_view url, const leases::ProviderOptions& options) {
  AzureAddress address;
  address.cosmos = url.starts_with(kCosmosScheme);
  url.remove_prefix(address.cosmos ? kCosmosScheme.size() : kBlobScheme.size());
  if (url.find('#') != std::string_view::npos) RefuseAzureAddress("has a '#' that must be encoded");
  const std::size_t question = std::min(url.find('?'), url.size());
  if (url.substr(0, question).find('@') != std::string_view::npos)
    RefuseAzureAddress("has a user or a key: those never stand in an address");
  ReadPath(url.substr(0, question), address);
  ReadAzureParameters(url.substr(std::min(question + 1, url.size())), address);
  if (address.ca_file.empty()) address.ca_file = options.ca_file;

  address.connection = FindConnectionString(options.azure, address.cosmos);
  const ConnectionString& connection = address.connection;
  if (!connection.account.empty() && connection.account != address.account)
    RefuseAzureAddress(
        fmt::format("names the account {}, and the connection string another", address.account));
  if (!connection.endpoint.empty()) {
    if (address.own_endpoint && address.endpoint != connection.endpoint)
      RefuseAzureAddress("has another endpoint than the connection string");
    address.endpoint = connection.endpoint;
    address.own_endpoint = true;
  }
  if (address.endpoint.empty()) address.endpoint = UsualEndpoint(address);
  return address;
}

}  // namespace tenure::client
