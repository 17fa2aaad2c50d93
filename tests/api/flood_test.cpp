// What strangers send a lot of: bodies, requests, answers that they do not read, connections that say
// nothing. Whoever else asks meanwhile is answered.
#include <sys/socket.h>

#include <deque>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/guarded.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::FormatRequest;
using support::HttpConnection;
using support::HttpResponse;
using testing::HasSubstr;

constexpr std::size_t kMiB = 1024 * 1024;
constexpr auto kPatience = std::chrono::seconds(30);

/// How much memory of the process is in use.
std::size_t ResidentBytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::size_t size = 0;
  std::size_t resident = 0;
  file >> size >> resident;
  return resident * 4'096;
}

/// Sends as much of `bytes` to each as the server takes, and does not mind when it hangs up.
void SendToAll(std::deque<HttpConnection>& clients, const std::string& bytes) {
  std::vector<std::size_t> sent(clients.size());
  // Several rounds without progress: the server takes no more.
  for (int idle_rounds = 0; idle_rounds < 3;) {
    bool progress = false;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::size_t left = bytes.size() - sent[i];
      if (left == 0) continue;
      const ssize_t size =
          ::send(clients[i].fd(), bytes.data() + sent[i], left, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (size > 0) {
        sent[i] += static_cast<std::size_t>(size);
        progress = true;
      } else if (errno != EAGAIN) {
        sent[i] = bytes.size();
      }
    }
    idle_rounds = progress ? 0 : idle_rounds + 1;
  }
}

std::deque<HttpConnection> Connect(int port, int count) {
  std::deque<HttpConnection> clients;
  for (int i = 0; i < count; ++i) clients.emplace_back(port, kPatience);
  return clients;
}

/// A request whose last byte is held back.
std::string AlmostAll(int port, std::size_t body_bytes) {
  std::string request = FormatRequest(port, "PUT", "/sessions", std::string(body_bytes, ' '));
  request.pop_back();
  return request;
}

TEST(Flood, BodiesWithoutATokenTakeNoMemory) {
  GuardedProcess server;
  const pid_t pid = server.process().pid();
  server.As("ops:read").Get("/health");
  const std::size_t before = ResidentBytes(pid);
  auto strangers = Connect(server.port(), 1'000);
  SendToAll(strangers, AlmostAll(server.port(), 2 * kMiB));
  EXPECT_EQ(server.As("ops:read").Get("/health").status, 200);
  EXPECT_LT(ResidentBytes(pid), before + 150 * kMiB) << "of two gigabytes";
  EXPECT_EQ(strangers.front().ReadResponse().status, 401);
}

TEST(Flood, BodiesTakeAsMuchMemoryAsTheyMayAndNoMore) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--set", "http.body_memory=32MiB"});
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
  const std::size_t before = ResidentBytes(server->pid());
  auto clients = Connect(server->Port(), 200);
  SendToAll(clients, AlmostAll(server->Port(), 2 * kMiB));
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201) << "a small body needs none of it";
  EXPECT_LT(ResidentBytes(server->pid()), before + 150 * kMiB) << "of 400 MiB";
  const HttpResponse refused = clients.back().ReadResponse();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(ProblemType(refused), "too-many-bodies");
  EXPECT_NE(refused.FindHeader("Retry-After"), std::nullopt);
}

TEST(Flood, WrongSignaturesKeepNobodyWaiting) {
  GuardedProcess server;
  const std::string good = server.Token("ops:read");
  const std::string unsigned_part = good.substr(0, good.rfind('.') + 1);
  std::string requests;
  for (int i = 0; requests.size() < kMiB / 4; ++i) {
    std::string signature(86, 'A');
    signature.replace(0, std::to_string(i).size(), std::to_string(i));
    requests += FormatRequest(server.port(), "GET", "/health", "",
                              {{"Authorization", "Bearer " + unsigned_part + signature}});
  }
  auto strangers = Connect(server.port(), 20);
  SendToAll(strangers, requests);
  HttpConnection other(server.port(), kPatience);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(other.Call("GET", "/health", "", {{"Authorization", "Bearer " + good}}).status, 200);
  EXPECT_EQ(strangers.front().ReadResponse().status, 401);
}

TEST(Flood, AnswersThatNobodyReadsKeepNobodyWaiting) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve();
  std::string requests;
  for (int i = 0; i < 2'000; ++i)
    requests += FormatRequest(server->Port(), "GET", "/openapi.json", "");
  auto strangers = Connect(server->Port(), 50);
  SendToAll(strangers, requests);
  const Api api(*server);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(api.Put(NewKey(), 1).status, 201);
  EXPECT_EQ(strangers.front().ReadResponse().status, 200);
}

/// `tenure` with no more than that many open files, also if it would like more.
std::filesystem::path WithDescriptors(const support::TempDir& folder, int count) {
  const std::filesystem::path script = folder / "tenure";
  std::ofstream(script) << "#!/bin/sh\nulimit -n " << count << "\nexec "
                        << support::TenureBinary().string() << " \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

TEST(Flood, SilentClientsBeyondTheDescriptorsHoldUpNobody) {
  const support::TempDir folder;
  support::ServerOptions options;
  options.binary = WithDescriptors(folder, 1'024);
  options.flags = {"--ops-listen", "127.0.0.1:0"};
  support::ServerProcess server(options);
  EXPECT_THAT(server.Output(), HasSubstr("http.max_connections")) << "it says that it serves fewer";
  const auto silent = Connect(server.Port(), 1'100);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Api(server).Put(NewKey(), 1).status, 201);
  EXPECT_EQ(Api(server).Get("/readyz").status, 200);
}

/// Requests to endpoints and clients together had more than there were.
TEST(Flood, WhatIsPushedTakesNoDescriptorFromTheStore) {
  const support::TempDir folder;
  for (const bool pushes : {false, true}) {
    support::ServerOptions options;
    options.binary = WithDescriptors(folder, 1'024);
    if (pushes) options.flags = PushSettings::Flags();
    support::ServerProcess server(options);
    EXPECT_THAT(server.Output(), HasSubstr(pushes ? R"("served":576)" : R"("served":832)"));
  }
}

TEST(Flood, ASoftLimitOfDescriptorsIsRaised) {
  const support::TempDir folder;
  const std::filesystem::path script = WithDescriptors(folder, 1'024);
  std::ofstream(script) << "#!/bin/sh\nulimit -S -n 256\nexec " << support::TenureBinary().string()
                        << " \"$@\"\n";
  support::ServerOptions options;
  options.binary = script;
  support::ServerProcess server(options);
  std::ifstream limits("/proc/" + std::to_string(server.pid()) + "/limits");
  const std::string text{std::istreambuf_iterator<char>(limits), {}};
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("Max open files +256 ")));
}

}  // namespace
}  // namespace tenure::api
