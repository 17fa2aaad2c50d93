// What arrives on a socket of the real server: slow, split, piled up (what is wrong: the tests of
// src/http). And without authentication: this machine only, and nothing that came from elsewhere.
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::FormatRequest;
using support::HttpConnection;
using support::HttpResponse;
using testing::HasSubstr;

class Torture : public testing::Test {
 protected:
  int port() const { return SharedServer(Engine::kSqlite).Port(); }
};

TEST_F(Torture, TwoHundredPipelinedPutsAreAnsweredInOrder) {
  std::vector<Key> keys;
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    // Every third repeats the key before it: its answer must be that one's session.
    keys.push_back(i % 3 == 2 ? keys.back() : NewKey());
    requests += FormatRequest(port(), "PUT", "/sessions", PutBody(keys.back(), 1));
  }
  HttpConnection connection(port());
  connection.Send(requests);
  std::string last_id;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const HttpResponse response = connection.ReadResponse();
    ExpectDocumented("PUT", "/sessions", response);
    ASSERT_EQ(response.status, i % 3 == 2 ? 200 : 201) << i;
    EXPECT_EQ(response.Json()["userObjectId"].Text(), keys[i].user) << i;
    if (i % 3 == 2) {
      EXPECT_EQ(response.Json()["sessionId"].Text(), last_id);
    }
    last_id = response.Json()["sessionId"].Text();
  }
}

/// What else is refused like this: http/request_reader_test.
TEST_F(Torture, WhatEnablesSmugglingIsRefusedAndTheConnectionEnds) {
  HttpConnection connection(port());
  connection.Send(
      "PUT /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
      "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const HttpResponse response = connection.ReadResponse();
  ExpectProblem(response, 400);
  EXPECT_EQ(response.FindHeader("Connection"), "close");
  EXPECT_EQ(connection.ReadUntilClose(), "") << "one answer, then the end";
}

TEST_F(Torture, SlowClientsDoNotHoldUpOthers) {
  const std::string request = FormatRequest(port(), "PUT", "/sessions", PutBody(NewKey(), 1));
  std::deque<HttpConnection> slow;
  for (std::size_t i = 1; i <= 100; ++i) {
    slow.emplace_back(port());
    slow.back().Send(request.substr(0, request.size() * i / 101));
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Api(port()).Put(NewKey(), 1).status, 201);
  for (std::size_t i = 1; i <= slow.size(); ++i)
    slow[i - 1].Send(request.substr(request.size() * i / 101));
  int created = 0;
  for (HttpConnection& connection : slow) created += connection.ReadResponse().status == 201;
  EXPECT_EQ(created, 1) << "one of a hundred with the same key";
}

TEST_F(Torture, AThousandConnectionsAtOnceAreAllServed) {
  std::deque<HttpConnection> connections;
  for (int i = 0; i < 1'000; ++i) connections.emplace_back(port(), std::chrono::seconds(30));
  const Key key = NewKey();
  const std::string request = FormatRequest(port(), "PUT", "/sessions", PutBody(key, 1));
  for (HttpConnection& connection : connections) connection.Send(request);
  int created = 0;
  int existing = 0;
  for (HttpConnection& connection : connections) {
    const int status = connection.ReadResponse().status;
    created += status == 201;
    existing += status == 200;
  }
  EXPECT_EQ(created, 1);
  EXPECT_EQ(existing, 999);
}

TEST_F(Torture, AHeaderOrBodyThatNeverEndsIs408) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server =
      store.Serve({"--set", "http.header_timeout=100ms", "--set", "http.body_timeout=100ms"});
  HttpConnection header(server->Port());
  header.Send("GET /livez HTTP/1.1\r\nHost: local");
  HttpConnection body(server->Port());
  body.Send(FormatRequest(server->Port(), "PUT", "/sessions", "",
                          {{"Content-Type", "application/json"}, {"Content-Length", "100"}}) +
            "{");
  ExpectProblem(header.ReadResponse(), 408);
  ExpectProblem(body.ReadResponse(), 408);
}

class ProtectedMode : public testing::Test {
 protected:
  /// The status for a request with one more (or another) header.
  int StatusWith(const std::string& name, const std::string& value) {
    const auto response = api_.Call("GET", "/sessions?limit=1", "", {{name, value}});
    if (response.status == 403) {
      EXPECT_EQ(ProblemType(response), "protected-mode");
    }
    return response.status;
  }

  Api api_{SharedServer(Engine::kSqlite)};
};

/// Local addresses of the listening TCP sockets of a process, as the kernel prints them.
std::set<std::string> ListeningAddresses(pid_t pid) {
  const std::filesystem::path process = "/proc/" + std::to_string(pid);
  std::set<std::string> inodes;
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone);
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  }
  std::set<std::string> addresses;
  for (const char* table : {"net/tcp", "net/tcp6"}) {
    std::ifstream file(process / table);
    std::string line;
    std::getline(file, line);  // the heading
    while (std::getline(file, line)) {
      std::istringstream words(line);
      const std::vector<std::string> columns{std::istream_iterator<std::string>(words), {}};
      constexpr const char* kListening = "0A";
      if (columns.at(3) == kListening && inodes.contains(columns.at(9)))
        addresses.insert(columns.at(1).substr(0, columns.at(1).find(':')));
    }
  }
  return addresses;
}

/// Which of them is foreign: http/protection_test.
TEST_F(ProtectedMode, AForeignHostOriginSiteAndAProxyAreRefused) {
  const std::string own = "http://127.0.0.1:" + std::to_string(api_.port());
  for (const auto& [name, value] : support::HttpHeaders{{"Host", "example.com"},
                                                        {"Origin", "http://example.com"},
                                                        {"Origin", own + ".evil.com"},
                                                        {"Sec-Fetch-Site", "cross-site"},
                                                        {"X-Forwarded-For", "127.0.0.1"},
                                                        {"Via", "1.1 squid"}})
    EXPECT_EQ(StatusWith(name, value), 403) << name << ": " << value;
  for (const auto& [name, value] : support::HttpHeaders{
           {"Host", "localhost"}, {"Origin", own}, {"Sec-Fetch-Site", "same-origin"}})
    EXPECT_EQ(StatusWith(name, value), 200) << name << ": " << value;
}

TEST_F(ProtectedMode, WritesAreRefusedAlikeAndChangeNothing) {
  const Key key = NewKey();
  EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(key, 1), {{"Origin", "http://evil.com"}}).status,
            403);
  EXPECT_EQ(api_.Get("/sessions?userObjectId=" + key.user).Json()["items"].Size(), 0U);
  const std::string id = api_.Put(key, 1).Json()["sessionId"].Text();
  EXPECT_EQ(api_.Call("DELETE", "/sessions/" + id, "", {{"Via", "1.1 proxy"}}).status, 403);
  EXPECT_TRUE(api_.Session(id)["isActive"].Bool());
}

TEST_F(ProtectedMode, ItRefusesToListenElsewhereAndSaysWhatToDo) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:8080"}) {
    const support::TempDir data;
    const auto result = RunTenure({"serve", "--data", data.path(), "--listen", address});
    EXPECT_EQ(result.exit_code, 1) << address;
    EXPECT_THAT(result.err, HasSubstr("without authentication")) << address;
    EXPECT_THAT(result.err, HasSubstr("--listen 127.0.0.1:8080")) << address;
    EXPECT_EQ(result.out, "") << "it must not say that it listens";
  }
}

TEST_F(ProtectedMode, NothingListensBeyondLoopback) {
  for (const Engine engine : {Engine::kSqlite, Engine::kPostgres})
    EXPECT_EQ(ListeningAddresses(SharedServer(engine).pid()), std::set<std::string>{"0100007F"})
        << "127.0.0.1 as the kernel prints it";
}

}  // namespace
}  // namespace tenure::api
