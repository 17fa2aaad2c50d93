// Push while servers are killed and stopped and an endpoint says anything: what was accepted ends once it was
// told 2xx, and never before; there are never more requests than a subscription allows.

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"
#include "support/long_run.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"
#include "support/tls_receiver.hpp"

namespace tenure::chaos {
namespace {

using api::Api;
using api::Eventually;
using support::ServerProcess;
using support::TlsReceiver;

constexpr std::size_t kPushServers = 3;
constexpr int kMaxInFlight = 8;
constexpr int kMessages = 150;
constexpr std::chrono::seconds kPushPatience{180};

/// An endpoint that refuses, has trouble and resets, by turns, and knows to what it said 2xx.
class MoodyEndpoint {
 public:
  explicit MoodyEndpoint(support::Authority& authority)
      : receiver_(authority,
                  [this](const support::ReceivedRequest& request) { return Answer(request); }) {}

  std::string Url() const { return receiver_.Url("/hook"); }
  std::set<std::string> Accepted() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  std::size_t requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::size_t most_at_once() const { return receiver_.most_at_once(); }
  void BeWell() {
    const std::lock_guard lock(mutex_);
    is_well_ = true;
  }

 private:
  std::string Answer(const support::ReceivedRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::size_t turn = ++requests_;
    if (!is_well_ && turn % 11 == 0) return TlsReceiver::Http(500);
    if (!is_well_ && turn % 37 == 0) return TlsReceiver::Http(429, "Retry-After: 1\r\n");
    accepted_.insert(request.FindHeader("webhook-id").value_or(""));
    // It was taken, and nobody hears of it.
    if (!is_well_ && turn % 13 == 0) return TlsReceiver::kReset;
    return TlsReceiver::Http(204);
  }

  mutable std::mutex mutex_;
  std::set<std::string> accepted_;
  std::size_t requests_ = 0;
  bool is_well_ = false;
  TlsReceiver receiver_;  // last: its threads use the others
};

class PushChaos : public testing::Test {
 protected:
  PushChaos() {
    support::ReplaceFile(folder_ / "ca.pem", authority_.pem());
    for (std::size_t i = 0; i < kPushServers; ++i) Start(i);
  }

  void Start(std::size_t i) {
    servers_[i] = store_.Serve(
        api::PushSettings::Flags({"--set", "push.ca_file=" + (folder_ / "ca.pem").string()}));
  }
  Api At(std::size_t i) const { return Api(*servers_[i]); }
  /// Which server delivers; none: nobody, just now. `asked`: any that lives.
  std::optional<std::size_t> Deliverer(std::size_t asked) const {
    const auto by = At(asked).Get("/api/v1/subscriptions/s").Json()["delivered_by"];
    if (by.IsNull()) return std::nullopt;
    for (std::size_t i = 0; i < kPushServers; ++i)
      if (by.Text().find(fmt::format(":{}:", servers_[i]->pid())) != std::string::npos) return i;
    return std::nullopt;
  }
  std::size_t AwaitDeliverer(std::size_t asked, std::optional<std::size_t> but = {}) const {
    std::optional<std::size_t> found;
    Eventually(
        "somebody delivers", [&] { return (found = Deliverer(asked)) && found != but; },
        kPushPatience);
    return *found;
  }
  void Enqueue(std::size_t at, int count) {
    std::string body = R"({"messages":[)";
    for (int i = 0; i < count; ++i)
      body += fmt::format("{}{{\"topic\":\"orders\",\"payload\":{}}}", i ? "," : "", i);
    const auto answer = At(at).Call("POST", "/api/v1/messages", body + "]}");
    ASSERT_EQ(answer.status, 201) << answer.body;
    for (const auto& each : answer.Json()["ids"].Elements()) sent_.insert(each.Text());
  }
  static std::size_t Other(std::size_t i) { return (i + 1) % kPushServers; }

  const support::TempDir folder_;
  support::Authority authority_;
  MoodyEndpoint endpoint_{authority_};
  api::StoreUnderTest store_{api::Engine::kPostgres};
  std::unique_ptr<ServerProcess> servers_[kPushServers];
  std::set<std::string> sent_;
};

TEST_F(PushChaos, M1_M2_WhoeverDeliversIsKilledOrStopped) {
  ASSERT_EQ(At(0)
                .Call("PATCH", "/api/v1/topics/orders",
                      R"({"max_attempts":1000,"backoff_ms":100,"backoff_max_ms":200})")
                .status,
            200);
  ASSERT_EQ(At(0)
                .Call("PUT", "/api/v1/subscriptions/s",
                      fmt::format(R"({{"topic":"orders","url":"{}","max_in_flight":{}}})",
                                  endpoint_.Url(), kMaxInFlight))
                .status,
            201);
  std::size_t asked = 0;
  std::string moved;
  const int rounds = support::IsLongRun() ? 12 : 2;
  for (int round = 0; round < rounds; ++round) {
    Enqueue(asked, kMessages);
    const std::size_t before = endpoint_.requests();
    Eventually(
        "requests come", [&] { return endpoint_.requests() > before + 20; }, kPushPatience);
    const std::size_t delivers = AwaitDeliverer(asked);
    asked = Other(delivers);
    const auto began = std::chrono::steady_clock::now();
    const bool is_stopped = round % 3 == 1;
    is_stopped ? servers_[delivers]->Pause() : servers_[delivers]->Kill();
    AwaitDeliverer(asked, delivers);
    const std::size_t then = endpoint_.requests();
    Eventually(
        "another one delivers", [&] { return endpoint_.requests() > then; }, kPushPatience);
    moved += fmt::format(" {}", std::chrono::duration_cast<std::chrono::milliseconds>(
                                    std::chrono::steady_clock::now() - began)
                                    .count());
    is_stopped ? servers_[delivers]->Resume() : Start(delivers);
  }
  std::cout << "handed on after ms:" << moved << "\n";
  endpoint_.BeWell();
  Eventually(
      "all are delivered",
      [&] { return store_.Execute("select count(*) from tenure.messages") == "0"; }, kPushPatience);
  EXPECT_EQ(store_.Execute("select count(*) from tenure.dead_letters"), "0");
  EXPECT_EQ(sent_.size(), static_cast<std::size_t>(rounds * kMessages));
  EXPECT_EQ(endpoint_.Accepted(), sent_) << "M1, M2";
  // Of one that is stopped (SIGSTOP) the connections stay as they are, and the next one begins its own.
  EXPECT_LE(endpoint_.most_at_once(), 2u * kMaxInFlight);
  std::cout << endpoint_.requests() << " requests of " << sent_.size() << " messages\n";
}

}  // namespace
}  // namespace tenure::chaos
