#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/port.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"
#include "support/tls.hpp"

namespace tenure::support {

struct RedisOptions {
  /// Keeps every write before it answers: append-only file, always synced. Otherwise nothing.
  bool durable = true;
  /// Listens on a port with TLS too, with a certificate for 127.0.0.1 and localhost.
  bool tls = false;
  /// More of redis-server's own: {"--maxmemory-policy", "allkeys-lru"}.
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};
};

/// A real redis-server with data of its own in a temporary folder, on a Unix socket; any number may
/// run side by side. It ends with this object, and when the test program is killed. For one thread.
class RedisServer {
 public:
  explicit RedisServer(RedisOptions options = {});
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  /// "redis+unix://…", with "&"-less parameters behind '?' if there are any.
  std::string Url(const std::string& parameters = {}) const;
  /// "rediss://localhost:PORT" that trusts our certificate. REQUIRES: tls.
  std::string TlsUrl(const std::string& parameters = {}) const;
  std::filesystem::path socket() const { return dir_.path() / "redis.sock"; }
  std::filesystem::path data() const { return dir_.path(); }
  std::filesystem::path ca_file() const { return dir_.path() / "ca.pem"; }
  int port() const { return port_.number(); }  ///< with TLS

  /// As redis-cli prints the answer.
  std::string Command(const std::vector<std::string>& words) const;

  void Kill();   ///< without warning
  void Start();  ///< on what it kept. REQUIRES: it was killed
  void Signal(int signal) { server_->Kill(signal); }

 private:
  const RedisOptions options_;
  const TempDir dir_;
  const ReservedPort port_;
  std::unique_ptr<Process> server_;
};

}  // namespace tenure::support
