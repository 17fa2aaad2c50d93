#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "http/server.hpp"
#include "sink/receiver.hpp"
#include "sink/record_store.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::sink {

struct SinkOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9090;  ///< 0: any free one, see Sink::port()
  std::filesystem::path directory{};
  /// Who sends this as a bearer token may do everything. Empty: no token is asked for, and only
  /// this machine is served.
  std::string token{};
  Faults faults{};
  std::uint64_t fault_seed = 0;
};

/// What there is to tell about the books.
struct Summary {
  struct Group {
    What what = What::kAll;
    std::int64_t count = 0;    ///< how many there are
    std::vector<Total> top{};  ///< the largest
  };
  Total all{};
  std::int64_t sessions = 0;
  std::int64_t duplicates = 0;  ///< since it was started
  std::int64_t conflicts = 0;
  std::vector<Group> groups{};  ///< tenants, capacities, users
};

/// The receiver of usage as one process has it: the folder's lock, the books, the server.
///
/// Life: construct (opens the books), Start, Stop. Threads: the owner's; the server has its own.
class Sink {
 public:
  explicit Sink(SinkOptions options);

  void Start();
  std::uint16_t port() const { return server_.port(); }
  void Stop();

  /// As the books are on disk now, also while the server runs.
  Summary Look(std::int64_t top);

 private:
  const SinkOptions options_;
  RecordStoreLock lock_;
  RecordStore books_;   // the server's loop writes
  RecordStore reader_;  // the owner reads
  Receiver receiver_;
  http::Router router_;
  telemetry::Registry metrics_;
  http::Server server_;
};

}  // namespace tenure::sink
