#include "client/redis/address.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"
#include "client/azure/connection_string.hpp"
#include "client/azure/identity.hpp"
#include "client/url_parameters.hpp"

namespace tenure::client {
namespace {

constexpr std::string_view kTls = "rediss://";
constexpr std::string_view kPlain = "redis://";
constexpr std::string_view kUnix = "redis+unix://";
constexpr std::size_t kMostPasswordBytes = 64UL * 1024;  // an access token is some KiB
constexpr std::size_t kMostPrefixBytes = 100;

[[noreturn]] void RefuseAddress(std::string_view why) {
  throw std::invalid_argument(fmt::format("the address of the Redis {}", why));
}

std::int64_t PartNumber(std::string_view text, std::int64_t most, std::string_view what) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || value < 0 || value > most)
    RefuseAddress(fmt::format("has no number from 0 to {} as its {}", most, what));
  return value;
}

/// What is behind the last '@' of HOST, HOST:PORT, [V6] or [V6]:PORT.
void ReadHost(std::string_view text, RedisAddress& address) {
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) RefuseAddress("has a '[' without a ']'");
    address.host = text.substr(1, bracket - 1);
    rest = text.substr(bracket + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    address.host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (address.host.empty()) RefuseAddress("names no host");
  if (rest.empty()) return;
  if (rest.front() != ':') RefuseAddress("has something behind the host that is no port");
  address.port = static_cast<std::uint16_t>(PartNumber(rest.substr(1), 65'535, "port"));
  if (address.port == 0) RefuseAddress("has the port 0");
}

void ReadUser(std::string_view text, RedisAddress& address) {
  const std::size_t colon = text.find(':');
  address.user = PercentDecoded(text.substr(0, colon));
  if (colon != std::string_view::npos) address.password = PercentDecoded(text.substr(colon + 1));
}

std::string ReadPassword(const std::string& path) {
  std::string password;
  try {
    password = base::ReadWholeFile(path, kMostPasswordBytes);
  } catch (const base::UserError& error) {
    throw std::invalid_argument(fmt::format("password_file {}: {}", path, error.what()));
  }
  while (!password.empty() && (password.back() == '\n' || password.back() == '\r'))
    password.pop_back();
  if (password.empty()) throw std::invalid_argument(fmt::format("password_file {}: empty", path));
  struct stat state {};
  if (::stat(path.c_str(), &state) == 0 && (state.st_mode & (S_IROTH | S_IWOTH)) != 0)
    base::LogWarn("leases.secret_readable", "A file with a password can be read by everybody.",
                  {{"file", path}});
  return password;
}

void ReadParameters(std::string_view query, RedisAddress& address) {
  UrlParameters parameters(query);
  address.prefix = parameters.Text("prefix").value_or(address.prefix);
  if (address.prefix.size() > kMostPrefixBytes)
    throw std::invalid_argument("the parameter prefix of the address is longer than 100 bytes");
  address.max_ttl = parameters.Duration("max_ttl", leases::Milliseconds(1'000), leases::kMaxTtl);
  address.replicas = static_cast<int>(parameters.Number("replicas", 0, 100).value_or(0));
  address.ca_file = parameters.Text("ca_file").value_or("");
  address.cert_file = parameters.Text("cert_file").value_or("");
  address.key_file = parameters.Text("key_file").value_or("");
  if (const auto user = parameters.Text("user")) {
    if (!address.user.empty()) RefuseAddress("names two users");
    address.user = *user;
  }
  if (const auto file = parameters.Text("password_file")) {
    if (!address.password.empty()) RefuseAddress("has a password beside password_file");
    address.password = ReadPassword(*file);
  }
  parameters.Finish();
}

/// What the environment says of Azure is not meant for a Redis of this machine.
void FindRedisTokens(const leases::AzureOptions& who, RedisAddress& address) {
  const bool is_said = who.credential || !who.mode.empty();
  if (!is_said && (!address.tls || OptionOr("", "TENURE_AZURE_MODE").empty())) return;
  if (!address.password.empty()) {
    base::LogWarn("leases.two_credentials",
                  "A credential of Azure is given beside a password, which is used.", {});
    return;
  }
  if (!address.tls) RefuseAddress("has no TLS, which tokens of Azure need: use rediss://");
  address.tokens = FindTokens("https://redis.azure.com/.default", address.ca_file, who);
}

void CheckTogether(const RedisAddress& address) {
  if (!address.user.empty() && address.password.empty() && !address.tokens)
    RefuseAddress("names a user without a password; give password_file");
  const bool any_file =
      !address.ca_file.empty() || !address.cert_file.empty() || !address.key_file.empty();
  if (any_file && !address.tls)
    RefuseAddress("has files of certificates and no TLS: use rediss://");
  if (address.cert_file.empty() != address.key_file.empty())
    RefuseAddress("must have both of cert_file and key_file, or none");
}

}  // namespace

bool IsRedisUrl(std::string_view url) {
  return url.starts_with(kTls) || url.starts_with(kPlain) || url.starts_with(kUnix);
}

RedisAddress ParseRedisUrl(std::string_view url, const leases::ProviderOptions& options) {
  RedisAddress address;
  const bool is_unix = url.starts_with(kUnix);
  address.tls = url.starts_with(kTls);
  url.remove_prefix(is_unix ? kUnix.size() : address.tls ? kTls.size() : kPlain.size());
  if (url.find('#') != std::string_view::npos) RefuseAddress("has a '#' that must be encoded");
  const std::size_t question = url.find('?');
  const std::string_view query =
      question == std::string_view::npos ? std::string_view() : url.substr(question + 1);
  url = url.substr(0, question);
  if (is_unix) {
    address.socket_path = PercentDecoded(url);
    if (!address.socket_path.starts_with('/')) RefuseAddress("names no path: redis+unix:///path");
  } else {
    const std::size_t slash = std::min(url.find('/'), url.size());
    std::string_view authority = url.substr(0, slash);
    const std::string_view path = url.substr(std::min(slash + 1, url.size()));
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
      ReadUser(authority.substr(0, at), address);
      authority.remove_prefix(at + 1);
    }
    ReadHost(authority, address);
    if (!path.empty()) address.db = PartNumber(path, 1'000'000, "database");
  }
  ReadParameters(query, address);
  if (address.ca_file.empty() && address.tls) address.ca_file = options.ca_file;
  FindRedisTokens(options.azure, address);
  CheckTogether(address);
  const bool in_clear = !address.tls && !is_unix && !IsLoopbackHost(address.host);
  if (in_clear && !options.allow_plaintext)
    throw std::invalid_argument(fmt::format(
        "leases and the password would be sent to {} in clear text: use rediss://, or accept that "
        "with `allow_plaintext` (`--allow-plaintext`)",
        address.host));
  if (in_clear)
    base::LogWarn("leases.clear_text", "Leases are kept on a Redis that is reached in clear text.",
                  {{"host", address.host}});
  return address;
}

}  // namespace tenure::client
