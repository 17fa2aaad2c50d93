#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "support/json.hpp"
#include "support/port.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::support {

/// A real Prometheus that scrapes one server of this machine every second, under the job "tenure",
/// on a port of 127.0.0.1 and in a folder of its own.
///
/// The constructor returns when it answers queries; whether it has scraped anything by then is not
/// said. It ends with this object, and when the test program is killed.
class Prometheus {
 public:
  /// Whether the program is there (Debian: prometheus).
  static bool Installed();

  explicit Prometheus(int scraped_port);
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;

  /// The whole answer to an instant query: "status", "data", or "error".
  Json Query(std::string_view expression) const;
  std::string Log() const { return server_->Output(); }

 private:
  TempDir dir_;
  ReservedPort port_;
  std::unique_ptr<Process> server_;
};

}  // namespace tenure::support
