#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_dir.hpp"

namespace tenure::support {

struct SinkOptions {
  std::filesystem::path data_dir = {};  ///< empty: a temporary folder of its own
  int port = 0;                         ///< 0: a free one
  std::vector<std::string> flags = {};  ///< more flags of `tenure usage-sink`
  std::filesystem::path binary = {};    ///< empty: what TENURE_BINARY names
};

/// A real `tenure usage-sink` process. The constructor returns when it serves; the destructor kills
/// it. To restart one, make a new object with the same folder and port.
class SinkProcess {
 public:
  explicit SinkProcess(SinkOptions options = {});

  int Port() const { return port_; }
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  /// For `usage.endpoint`.
  std::string Endpoint() const { return Url() + "/usages"; }

  HttpResponse Call(std::string_view method, std::string_view path,
                    std::string_view body = {}) const {
    return support::Call(port_, method, path, body, {});
  }
  /// As `--fault` reads them; empty: it behaves.
  void SetFaults(const std::string& faults) const;

  /// SIGKILL; returns when it is gone.
  void Kill();
  /// SIGTERM; the exit code.
  int Terminate();
  /// Everything it printed.
  std::string Output() const { return process_.Output(); }

 private:
  const SinkOptions options_;
  const std::optional<TempDir> own_data_;
  Process process_;
  int port_ = 0;
};

}  // namespace tenure::support
