#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/certificate.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {

/// A real server that speaks TLS, with a certificate by an authority of the test's own.
class TlsServer {
 public:
  /// `settings` are given by `--set` besides those of TLS.
  explicit TlsServer(const std::vector<std::string>& settings = {});

  support::ServerProcess& process() { return process_; }
  std::string Url() const { return process_.Url(); }
  std::string File(const std::string& name) const { return folder_ / name; }
  /// For clients: the authority's own certificate.
  std::string CaFile() const { return File("authority.pem"); }

  /// Puts another certificate in the place of the first one. Nobody is told.
  void Renew();
  std::int64_t last_serial() const { return authority_.last_serial(); }
  /// The serial number of the certificate that a new connection gets.
  std::int64_t Served() const;

  /// Writes a file of that name in one step.
  std::string Write(const std::string& name, const std::string& text) const;

 private:
  support::ServerOptions Options(const std::vector<std::string>& settings);

  const support::TempDir folder_;
  support::Authority authority_;
  support::ServerProcess process_;
};

}  // namespace tenure::api
