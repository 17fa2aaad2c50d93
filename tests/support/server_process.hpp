#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_dir.hpp"

namespace tenure::support {

struct ServerOptions {
  std::string store_url = {};           ///< `--store`; empty: the embedded store
  std::filesystem::path data_dir = {};  ///< `--data`; empty: a temporary folder of its own
  int port = 0;                         ///< 0: a free one
  std::vector<std::string> flags = {};  ///< more flags of the command
  std::vector<std::pair<std::string, std::string>> environment = {};
  std::filesystem::path binary = {};  ///< empty: what TENURE_BINARY names
};

/// A real process of ours that serves HTTP. The constructor returns when it serves; the destructor
/// kills it. If the test has failed by then, its output goes to the test's log.
///
/// To restart one, make a new object with the same data folder or store (and port).
class ServingProcess {
 public:
  ~ServingProcess();
  ServingProcess(const ServingProcess&) = delete;
  ServingProcess& operator=(const ServingProcess&) = delete;

  int Port() const { return port_; }
  std::string Url() const { return scheme_ + "://127.0.0.1:" + std::to_string(port_); }
  pid_t pid() const { return process_.pid(); }

  /// One request on a connection of its own. REQUIRES: it speaks plain HTTP.
  HttpResponse Call(std::string_view method, std::string_view path, std::string_view body = {},
                    const HttpHeaders& headers = {}) const {
    return support::Call(port_, method, path, body, headers);
  }

  /// SIGKILL; returns when it is gone.
  void Kill();
  /// SIGTERM; the exit code.
  int Terminate();
  /// SIGSTOP: it exists and holds its connections, but nothing in it runs.
  void Pause() { process_.Kill(SIGSTOP); }
  void Resume() { process_.Kill(SIGCONT); }

  bool IsRunning() { return process_.IsRunning(); }
  /// Everything it printed and logged.
  std::string Output() const { return process_.Output(); }
  Process& process() { return process_; }

 protected:
  ServingProcess(const char* command, ServerOptions options);

 private:
  ServerOptions options_;
  std::optional<TempDir> own_data_;
  Process process_;
  std::string scheme_;
  int port_ = 0;
};

/// `tenure serve`.
class ServerProcess : public ServingProcess {
 public:
  explicit ServerProcess(ServerOptions options = {})
      : ServingProcess("serve", std::move(options)) {}
};

/// `tenure usage-sink`. It has no store but its folder.
class SinkProcess : public ServingProcess {
 public:
  explicit SinkProcess(ServerOptions options = {})
      : ServingProcess("usage-sink", std::move(options)) {}

  /// For `usage.endpoint`.
  std::string Endpoint() const { return Url() + "/usages"; }
  /// As `--fault` reads them; empty: it behaves.
  void SetFaults(const std::string& faults) const;
};

/// The path of the program under test. REQUIRES: TENURE_BINARY is set, as ctest does.
std::filesystem::path TenureBinary();

}  // namespace tenure::support
