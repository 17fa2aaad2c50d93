#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/api.hpp"

namespace tenure::api {

/// Settings with which a server pushes, to this machine and nowhere else; the file of keys is there
/// for as long as the program runs.
struct PushSettings {
  static constexpr const char* kAllow = "private 127.0.0.1";
  static const std::string& KeyFile();
  /// For `tenure serve`.
  static std::vector<std::string> Flags(std::vector<std::string> more = {});
};

/// For each operation of the server a request that it can carry out: made on the spot, with
/// something new that exists.
class SampleRequests {
 public:
  /// Sessions are of `tenant`, or of any when it is empty.
  explicit SampleRequests(Api api, std::string tenant = {})
      : api_(std::move(api)), tenant_(std::move(tenant)) {}

  struct Request {
    std::string target;
    std::string body;
    support::HttpHeaders headers = {};  ///< of a route that a signature opens
  };
  /// `path` as openapi.json has it, with its placeholders.
  Request RequestOf(const std::string& method, const std::string& path) const;

 private:
  Key KeyOfTenant() const;
  Request OfWhy(const std::string& path) const;
  Request OfLease(const std::string& action) const;
  Request OfTask(const std::string& action) const;
  Request OfInbox(const std::string& action) const;
  Request OfJobs(const std::string& method, const std::string& path) const;
  Request OfMessages(const std::string& method, const std::string& path) const;
  Request OfUsage(const std::string& method, const std::string& path) const;
  Request OfPush(const std::string& method, const std::string& path) const;
  Request OfSeats(const std::string& method, const std::string& path) const;
  Request OfWebhooks(const std::string& method, const std::string& path) const;
  Request SignedFor(const std::string& source) const;

  Api api_;
  std::string tenant_;
};

}  // namespace tenure::api
