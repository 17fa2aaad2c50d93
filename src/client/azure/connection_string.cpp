#include "client/azure/connection_string.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/operator_url.hpp"
#include "base/read_file.hpp"

namespace tenure::client {
namespace {

constexpr std::size_t kMostSecretBytes = 64UL * 1024;

[[noreturn]] void RefuseConnectionString(std::string_view why) {
  throw std::invalid_argument(fmt::format("the connection string of Azure {}", why));
}

/// "Name=value;Name=value;…"; a key's value ends with '=' signs.
std::map<std::string, std::string> PartsOf(std::string_view text) {
  std::map<std::string, std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0)
      RefuseConnectionString("has a part that is not Name=value");
    const std::string name(part.substr(0, equals));
    if (!parts.emplace(name, part.substr(equals + 1)).second)
      RefuseConnectionString(fmt::format("has {} twice", name));
  }
  return parts;
}

ConnectionString Parse(std::string_view text, bool cosmos) {
  auto parts = PartsOf(text);
  const auto take = [&](const char* name) {
    const auto node = parts.extract(name);
    return node ? node.mapped() : std::string();
  };
  if (parts.contains("SharedAccessSignature"))
    RefuseConnectionString("has a shared access signature; give one with AccountKey");
  ConnectionString found;
  const auto key = base::DecodeBase64(take("AccountKey"));
  if (!key || key->empty()) RefuseConnectionString("has no AccountKey in base64");
  found.key = *key;
  if (cosmos) {
    if (parts.contains("AccountName")) RefuseConnectionString("is one of a storage account");
    found.endpoint = take("AccountEndpoint");
    if (found.endpoint.empty()) RefuseConnectionString("has no AccountEndpoint");
    found.endpoint = CheckedEndpoint(found.endpoint, "AccountEndpoint of the connection string");
    return found;
  }
  if (parts.contains("AccountEndpoint")) RefuseConnectionString("is one of a Cosmos DB account");
  found.account = take("AccountName");
  if (found.account.empty()) RefuseConnectionString("has no AccountName");
  const std::string protocol = take("DefaultEndpointsProtocol");
  const std::string suffix = take("EndpointSuffix");
  found.endpoint = take("BlobEndpoint");
  if (found.endpoint.empty() && protocol == "http")
    RefuseConnectionString("says DefaultEndpointsProtocol=http: use https");
  if (found.endpoint.empty() && !suffix.empty())
    found.endpoint = fmt::format("https://{}.blob.{}", found.account, suffix);
  if (!found.endpoint.empty())
    found.endpoint = CheckedEndpoint(found.endpoint, "BlobEndpoint of the connection string");
  return found;
}

}  // namespace

std::string OptionOr(const std::string& option, const char* variable) {
  if (!option.empty()) return option;
  const char* const value = std::getenv(variable);
  return value ? value : "";
}

std::string CheckedEndpoint(std::string endpoint, const std::string& what) {
  if (const auto problem = base::OperatorUrlProblem(endpoint))
    throw std::invalid_argument(fmt::format("{}: {}", what, *problem));
  if (endpoint.find('?') != std::string::npos)
    throw std::invalid_argument(fmt::format("{}: it has a query", what));
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint;
}

std::string ReadSecretFile(const std::string& path, const std::string& what) {
  std::string secret;
  try {
    secret = base::ReadWholeFile(path, kMostSecretBytes);
  } catch (const base::UserError& error) {
    throw std::invalid_argument(fmt::format("{} {}: {}", what, path, error.what()));
  }
  while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) secret.pop_back();
  if (secret.empty()) throw std::invalid_argument(fmt::format("{} {}: empty", what, path));
  struct stat state {};
  if (::stat(path.c_str(), &state) == 0 && (state.st_mode & (S_IROTH | S_IWOTH)) != 0)
    base::LogWarn("leases.secret_readable", "A file with a secret can be read by everybody.",
                  {{"file", path}});
  return secret;
}

ConnectionString FindConnectionString(const leases::AzureOptions& options, bool cosmos) {
  const std::string text = OptionOr(options.connection_string, "TENURE_AZURE_CONNECTION_STRING");
  const std::string file =
      OptionOr(options.connection_string_file, "TENURE_AZURE_CONNECTION_STRING_FILE");
  if (!text.empty() && !file.empty())
    throw std::invalid_argument(
        "give one of azure.connection_string_file and TENURE_AZURE_CONNECTION_STRING");
  if (!text.empty()) return Parse(text, cosmos);
  if (!file.empty()) return Parse(ReadSecretFile(file, "azure.connection_string_file"), cosmos);
  return {};
}

}  // namespace tenure::client
