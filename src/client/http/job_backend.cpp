#include <utility>

#include <fmt/format.h>

#include "client/backends.hpp"

namespace tenure::client {
namespace {

constexpr std::string_view kJobsPath = "/api/v1/jobs";

class HttpJobs final : public JobBackend {
 public:
  HttpJobs(const ServerAddress& address, Milliseconds timeout)
      : transport_(address), timeout_(timeout) {}

  Answer Put(const std::string& name, const std::string& body,
             std::optional<std::int64_t> revision) override {
    http::Client::Headers headers;
    if (revision) headers.emplace_back("If-Match", fmt::format("\"{}\"", *revision));
    return Send(http::Method::kPut, PathTo(name), body, headers);
  }
  Answer Get(const std::string& name) override { return Send(http::Method::kGet, PathTo(name)); }
  Answer List(const std::string& after, int limit) override {
    std::string path = fmt::format("{}?limit={}", kJobsPath, limit);
    if (!after.empty()) path += "&cursor=" + Encoded(after);
    return Send(http::Method::kGet, path);
  }
  Answer Preview(const std::string& body) override {
    return Send(http::Method::kPost, std::string(kJobsPath) + "/preview", body);
  }
  Answer Delete(const std::string& name) override {
    return Send(http::Method::kDelete, PathTo(name));
  }
  Answer Trigger(const std::string& name, const std::string& body,
                 const std::string& key) override {
    http::Client::Headers headers;
    if (!key.empty()) headers.emplace_back("Idempotency-Key", key);
    return Send(http::Method::kPost, PathTo(name) + "/trigger", body, headers);
  }
  Answer Backfill(const std::string& name, const std::string& body) override {
    return Send(http::Method::kPost, PathTo(name) + "/backfill", body);
  }
  Answer Pause(const std::string& name, const std::string& body) override {
    return Send(http::Method::kPost, PathTo(name) + "/pause", body);
  }
  Answer Resume(const std::string& name) override {
    return Send(http::Method::kPost, PathTo(name) + "/resume", "{}");
  }
  Answer Runs(const std::string& name, std::string_view status, int limit) override {
    std::string path = fmt::format("{}/runs?limit={}", PathTo(name), limit);
    if (!status.empty()) path += fmt::format("&status={}", status);
    return Send(http::Method::kGet, path);
  }

 private:
  static std::string PathTo(const std::string& name) {
    return fmt::format("{}/{}", kJobsPath, Encoded(name));
  }
  Answer Send(http::Method method, const std::string& path,
              const std::optional<std::string>& body = {},
              const http::Client::Headers& headers = {}) {
    return transport_.Send(method, path, body, timeout_, {}, headers);
  }

  Transport transport_;
  const Milliseconds timeout_;
};

}  // namespace

std::unique_ptr<JobBackend> MakeHttpJobs(const ServerAddress& address, Milliseconds timeout) {
  return std::make_unique<HttpJobs>(address, timeout);
}

}  // namespace tenure::client
