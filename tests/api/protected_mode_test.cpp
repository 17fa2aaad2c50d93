// Without authentication: this machine only, and nothing that came from elsewhere.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using testing::HasSubstr;

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

TEST_F(ProtectedMode, AForeignHostIsRefused) {
  for (const char* host :
       {"example.com", "example.com:8080", "10.0.0.1", "localhost.evil.com", "127.0.0.1.evil.com",
        "0.0.0.0", "[::2]", "127.0.0.1:80x", "evil:127.0.0.1"})
    EXPECT_EQ(StatusWith("Host", host), 403) << host;
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1", "127.1.2.3:99", "[::1]:8080"})
    EXPECT_EQ(StatusWith("Host", host), 200) << host;
}

TEST_F(ProtectedMode, AForeignOriginIsRefused) {
  const std::string port = std::to_string(api_.port());
  for (const std::string& origin :
       {std::string("http://example.com"), std::string("null"), std::string("file://"),
        "https://127.0.0.1:" + port, std::string("http://127.0.0.1:1"), "http://localhost:" + port,
        "http://127.0.0.1:" + port + ".evil.com"})
    EXPECT_EQ(StatusWith("Origin", origin), 403) << origin;
  EXPECT_EQ(StatusWith("Origin", "http://127.0.0.1:" + port), 200);
}

TEST_F(ProtectedMode, ARequestOfAnotherSiteIsRefused) {
  for (const char* site : {"cross-site", "same-site", "CROSS-SITE", "anything"})
    EXPECT_EQ(StatusWith("Sec-Fetch-Site", site), 403) << site;
  for (const char* site : {"same-origin", "none"})
    EXPECT_EQ(StatusWith("Sec-Fetch-Site", site), 200) << site;
}

TEST_F(ProtectedMode, ARequestThatCameThroughAProxyIsRefused) {
  EXPECT_EQ(StatusWith("X-Forwarded-For", "127.0.0.1"), 403);
  EXPECT_EQ(StatusWith("x-forwarded-host", "localhost"), 403);
  EXPECT_EQ(StatusWith("X-Forwarded-Proto", "https"), 403);
  EXPECT_EQ(StatusWith("Forwarded", "for=127.0.0.1"), 403);
  EXPECT_EQ(StatusWith("Via", "1.1 squid"), 403);
  EXPECT_EQ(StatusWith("X-Real-IP", "127.0.0.1"), 403);
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
