#pragma once

// For tests of webhooks by a real server.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/github.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {

inline constexpr const char* kBots =
    R"({"name":"all","events":["*"],"ordering_scope":"none"},)"
    R"({"name":"issues","events":["issues"],"ordering_scope":"entity","max_size_in_megabytes":1})";
inline constexpr std::size_t kMebibyte = 1 << 20;

inline std::string BodyOf(std::size_t size) {
  const std::string around = R"({"x":""})";
  return R"({"x":")" + std::string(size - around.size(), 'x') + R"("})";
}

class Webhooks : public testing::TestWithParam<Engine> {
 protected:
  void Serve(std::vector<std::string> flags = {}) {
    server_.reset();
    server_ = store_.Serve(std::move(flags));
    api_.emplace(*server_);
  }
  void SetUp() override {
    Serve();
    Apply(github_.Bots(kBots));
  }
  void Apply(const std::string& file) const {
    const support::HttpResponse applied = api().Call("PUT", "/api/v1/bots", file);
    ASSERT_EQ(applied.status, 200) << applied.body;
  }
  const Api& api() const { return *api_; }
  std::int64_t Revision() const { return api().Get("/api/v1/bots").Json()["revision"].Int(); }
  support::HttpResponse Post(const GitHub::Sent& sent) const { return github_.Post(api(), sent); }
  /// Of one header that is otherwise.
  support::HttpResponse PostWith(const std::string& name, const std::string& value) const {
    return Post({.headers = {{name, value}}});
  }

  /// Every row that a webhook can make, counted past the server.
  std::string Stored() const {
    const std::string schema = GetParam() == Engine::kSqlite ? "" : "tenure.";
    std::string counts;
    for (const char* table : {"webhook_events", "webhook_payloads", "webhook_deliveries",
                              "messages", "queue_messages", "queue_sessions"})
      counts += store_.Execute(fmt::format("select count(*) from {}{}", schema, table)) + " ";
    return counts;
  }
  /// `ask` is refused like this, and leaves nothing.
  template <class Ask>
  support::HttpResponse ExpectRefused(int status, const std::string& type, Ask ask) const {
    const std::string before = Stored();
    support::HttpResponse response = ask();
    ExpectProblem(response, status);
    EXPECT_EQ(ProblemType(response), type);
    EXPECT_EQ(Stored(), before) << type;
    return response;
  }

  StoreUnderTest store_{GetParam()};
  GitHub github_;
  std::unique_ptr<support::ServerProcess> server_;
  std::optional<Api> api_;
};

}  // namespace tenure::api
