#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/http/transport.hpp"

namespace tenure::client {

/// Where the library's jobs are kept, blocking. Bodies and answers are those of a server's routes
/// (openapi.json), also on a store of our own: what a job may say is read in one place. Throws
/// base::Fault, base::UserError and CallFailed where there is no answer.
///
/// Threads: any, at once.
class JobBackend {
 public:
  using Answer = http::ClientResponse;
  virtual ~JobBackend() = default;

  virtual Answer Put(const std::string& name, const std::string& body,
                     std::optional<std::int64_t> revision) = 0;
  virtual Answer Get(const std::string& name) = 0;
  virtual Answer List(const std::string& after, int limit) = 0;
  virtual Answer Preview(const std::string& body) = 0;
  virtual Answer Delete(const std::string& name) = 0;
  virtual Answer Trigger(const std::string& name, const std::string& body,
                         const std::string& key) = 0;
  virtual Answer Backfill(const std::string& name, const std::string& body) = 0;
  virtual Answer Pause(const std::string& name, const std::string& body) = 0;
  virtual Answer Resume(const std::string& name) = 0;
  virtual Answer Runs(const std::string& name, std::string_view status, int limit) = 0;
};

struct JobBackendOptions {
  Milliseconds timeout{10'000};
  bool fires = true;  ///< on a store of our own
  bool pooled = false;
  std::string ca_file{};
  bool insecure = false;
};

/// By URL (tenure/jobs/client.hpp).
std::unique_ptr<JobBackend> OpenJobs(std::string_view url, const JobBackendOptions& options);

}  // namespace tenure::client
