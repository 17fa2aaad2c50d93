#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace tenure::client {

/// How a Tenure server is reached.
struct ServerAddress {
  std::string base_url{};
  std::string token{};    ///< sent as a bearer token when it is not empty
  std::string ca_file{};  ///< whose signatures count, instead of the system's certificates
};

/// A store that this process opens itself.
struct PostgresAddress {
  std::string url{};
  bool pooled = false;  ///< it is a transaction pooler's
};
struct SqliteAddress {
  std::string path{};  ///< of a file that the processes of this machine share
};

using Address = std::variant<PostgresAddress, SqliteAddress, ServerAddress>;

/// Refuses a token that would cross a network in clear text, unless that is `insecure`ly wanted:
/// std::invalid_argument.
void CheckToken(const ServerAddress& server, bool insecure);

/// "postgres://…", "sqlite:///path/to/file" (or "sqlite:relative/path"),
/// "http(s)://[token@]host:port". Throws std::invalid_argument for anything else: it says that
/// `what` ("leases") are kept at one of these.
Address ParseAddress(std::string_view url, std::string_view what);

}  // namespace tenure::client
