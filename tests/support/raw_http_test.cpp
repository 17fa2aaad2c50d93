#include "support/raw_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/system_call.hpp"

namespace tenure::support {
namespace {

using std::chrono::milliseconds;

/// Answers its one connection with given bytes, then reads until the client ends.
class CannedServer {
 public:
  explicit CannedServer(std::string answer, bool close_after = true) {
    listener_ = Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    Checked(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), "bind");
    Checked(listen(listener_, 1), "listen");
    Checked(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer), close_after] {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      EXPECT_EQ(send(fd, answer.data(), answer.size(), MSG_NOSIGNAL), std::ssize(answer));
      if (close_after) shutdown(fd, SHUT_WR);
      char bytes[4096];
      for (auto got = recv(fd, bytes, sizeof bytes, 0); got > 0;
           got = recv(fd, bytes, sizeof bytes, 0))
        received_.append(bytes, static_cast<std::size_t>(got));
      close(fd);
    });
  }
  ~CannedServer() {
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }
  CannedServer(const CannedServer&) = delete;
  CannedServer& operator=(const CannedServer&) = delete;

  int port() const { return port_; }
  /// REQUIRES: the client has ended its connection.
  std::string Received() {
    thread_.join();
    return received_;
  }

 private:
  int listener_;
  int port_;
  std::string received_;
  std::thread thread_;
};

TEST(RawHttp, ReadsABodyByLengthAndSendsAProperRequest) {
  CannedServer server(
      "HTTP/1.1 201 Created\r\nX-Name:  a value \r\ncontent-length: 7\r\n\r\n{\"a\":1}");
  const auto response = Call(server.port(), "POST", "/things?x=1", R"({"b":2})", {{"X-More", "y"}});
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.reason, "Created");
  EXPECT_EQ(response.FindHeader("x-name"), "a value");
  EXPECT_EQ(response.FindHeader("absent"), std::nullopt);
  EXPECT_EQ(response.Json()["a"].Int(), 1);
  EXPECT_EQ(server.Received(),
            "POST /things?x=1 HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(server.port()) +
                "\r\nContent-Type: application/json\r\nContent-Length: 7\r\n"
                "X-More: y\r\n\r\n{\"b\":2}");
}

TEST(RawHttp, ReadsPipelinedAnswersOfEveryFraming) {
  const CannedServer server(
      "HTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nWiki\r\nA\r\n0123456789\r\n"
      "0\r\nTrailer: 1\r\n\r\n"
      "HTTP/1.1 204 No Content\r\n\r\n"
      "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
      "HTTP/1.1 200 OK\r\n\r\nup to the end");
  HttpConnection connection(server.port());
  EXPECT_EQ(connection.ReadResponse().status, 100);
  EXPECT_EQ(connection.ReadResponse().body, "Wiki0123456789");
  EXPECT_EQ(connection.ReadResponse().status, 204);
  EXPECT_EQ(connection.ReadResponse(/*to_head=*/true).FindHeader("Content-Length"), "99");
  EXPECT_EQ(connection.ReadResponse().body, "up to the end");
}

TEST(RawHttp, WaitingTooLongIsAnErrorThatShowsWhatCame) {
  const CannedServer server("HTTP/1.1 200 O", /*close_after=*/false);
  HttpConnection connection(server.port(), milliseconds(50));
  try {
    connection.ReadResponse();
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("HTTP/1.1 200 O"));
  }
}

TEST(RawHttp, WhatIsNotProperHttpIsAnError) {
  for (const char* answer :
       {"", "HTTP/1.1 200", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n"}) {
    const CannedServer server(answer);
    HttpConnection connection(server.port());
    EXPECT_THROW(connection.ReadResponse(), std::runtime_error) << answer;
  }
}

TEST(Json, IsReachedByNameAndIndex) {
  const auto json =
      Json::Parse(R"({"items":[{"id":"x","n":-3,"f":1.5,"ok":true,"none":null}],"big":1e3})");
  const auto item = json["items"][0];
  EXPECT_EQ(item["id"].Text(), "x");
  EXPECT_EQ(item["n"].Int(), -3);
  EXPECT_EQ(item["n"].Number(), -3.0);
  EXPECT_EQ(item["f"].Number(), 1.5);
  EXPECT_TRUE(item["ok"].Bool());
  EXPECT_TRUE(item["none"].IsNull());
  EXPECT_TRUE(item.Has("none"));
  EXPECT_FALSE(item.Has("nothing"));
  EXPECT_EQ(json["items"].Size(), 1U);
  EXPECT_EQ(json["items"].Elements().size(), 1U);
  EXPECT_EQ(json.Keys(), (std::vector<std::string>{"items", "big"}));
  EXPECT_EQ(item.Dump(), R"({"id":"x","n":-3,"f":1.5,"ok":true,"none":null})");
  EXPECT_EQ(Json::Parse(R"("a\"\n")").Dump(), R"("a\"\u000a")");
}

TEST(Json, WhatIsMissingIsNamedWithTheWayToIt) {
  const auto json = Json::Parse(R"({"items":[{"id":7}]})");
  try {
    json["items"][0]["id"].Text();
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "$.items[0].id: not a text in 7");
  }
  EXPECT_THROW(json["items"][1], std::runtime_error);
  EXPECT_THROW(json["absent"], std::runtime_error);
  EXPECT_THROW(Json::Parse("{"), std::runtime_error);
}

}  // namespace
}  // namespace tenure::support
