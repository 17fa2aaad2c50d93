// Wrong, slow, split, piled up: what arrives on a socket of the real server.
#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::FormatRequest;
using support::HttpConnection;
using support::HttpResponse;

class Torture : public testing::Test {
 protected:
  int port() const { return SharedServer(Engine::kSqlite).Port(); }
  bool IsAlive() { return Api(port()).Get("/livez").status == 200; }

  /// What the server says to these bytes before it hangs up.
  HttpResponse RefusalOf(const std::string& bytes) {
    HttpConnection connection(port());
    connection.Send(bytes);
    HttpResponse response = connection.ReadResponse();
    EXPECT_EQ(connection.ReadUntilClose(), "") << "one answer, then the end";
    return response;
  }
};

TEST_F(Torture, ARequestMayArriveByteByByte) {
  HttpConnection connection(port());
  for (const int expected : {201, 200}) {
    static const Key key = NewKey();
    for (const char byte : FormatRequest(port(), "PUT", "/sessions", PutBody(key, 1)))
      connection.Send(std::string_view(&byte, 1));
    const HttpResponse response = connection.ReadResponse();
    EXPECT_EQ(response.status, expected);
    ExpectDocumented("PUT", "/sessions", response);
  }
}

TEST_F(Torture, AChunkedBodyMayArriveByteByByte) {
  const std::string body = PutBody(NewKey(), 1);
  std::string request =
      FormatRequest(port(), "PUT", "/sessions", "",
                    {{"Transfer-Encoding", "chunked"}, {"Content-Type", "application/json"}});
  for (const char byte : body) request += std::string("1\r\n") + byte + "\r\n";
  request += "0\r\n\r\n";
  HttpConnection connection(port());
  for (const char byte : request) connection.Send(std::string_view(&byte, 1));
  EXPECT_EQ(connection.ReadResponse().status, 201);
}

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

TEST_F(Torture, PipelinedRequestsOfAllKindsAreAnsweredInOrder) {
  const Key key = NewKey();
  HttpConnection connection(port());
  connection.Send(
      FormatRequest(port(), "PUT", "/sessions", PutBody(key, 1)) +
      FormatRequest(port(), "GET", "/nowhere") + FormatRequest(port(), "HEAD", "/livez") +
      FormatRequest(port(), "GET", "/sessions?userObjectId=" + key.user) +
      FormatRequest(port(), "PUT", "/sessions", "{") + FormatRequest(port(), "GET", "/livez"));
  EXPECT_EQ(connection.ReadResponse().status, 201);
  EXPECT_EQ(connection.ReadResponse().status, 404);
  EXPECT_EQ(connection.ReadResponse(true).status, 200);
  EXPECT_EQ(connection.ReadResponse().Json()["items"].Size(), 1U);
  EXPECT_EQ(connection.ReadResponse().status, 400);
  EXPECT_EQ(connection.ReadResponse().Json()["status"].Text(), "ok");
}

TEST_F(Torture, WhatEnablesSmugglingIsRefusedAndTheConnectionEnds) {
  const std::string put = "PUT /sessions HTTP/1.1\r\nHost: localhost\r\n";
  const std::string get = "GET /livez HTTP/1.1\r\n";
  const std::string smuggled = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string json = "Content-Type: application/json\r\n";
  const std::vector<std::string> requests{
      put + json + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
      put + json + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + smuggled,
      put + json + "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}" + smuggled,
      put + json + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" + smuggled,
      put + json + "Content-Length: 2, 2\r\n\r\n{}" + smuggled,
      put + json + "Content-Length: +2\r\n\r\n{}" + smuggled,
      put + json + "Content-Length: -1\r\n\r\n" + smuggled,
      put + json + "Content-Length: 0x2\r\n\r\n{}" + smuggled,
      put + json + "Content-Length: \r\n\r\n" + smuggled,
      put + json + "Content-Length: 18446744073709551617\r\n\r\n{}" + smuggled,
      put + json + "Content-Length : 2\r\n\r\n{}" + smuggled,
      put + json + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled,
      put + json + "Transfer-Encoding: identity\r\n\r\n" + smuggled,
      put + json + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled,
      put + json + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      put + json + "Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + smuggled,
      put + json + "Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n" + smuggled,
      put + json + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}X\r\n0\r\n\r\n" + smuggled,
      put + "X: a\r\n folded\r\n\r\n",
      put + "X: a\r\n\tfolded\r\n\r\n",
      put + "X: a\nY: b\r\n\r\n",
      put + "X: a\rb\r\n\r\n",
      put + "Bad Name: a\r\n\r\n",
      put + ": empty\r\n\r\n",
      put + std::string("X: a\0b\r\n\r\n", 10),
      get + "\r\n",
      get + "Host: localhost\r\nHost: localhost\r\n\r\n",
      get + "Host:\r\n\r\n",
      "GET  /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET http://evil.com/livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /livez#x HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /livez\r\n\r\n",
      "\x16\x03\x01\x02 a TLS hello\r\n\r\n",
  };
  for (const std::string& request : requests) {
    const HttpResponse response = RefusalOf(request);
    ExpectProblem(response, 400);
    EXPECT_EQ(response.FindHeader("Connection"), "close") << request;
    if (HasFailure()) FAIL() << "after: " << request;
  }
}

TEST_F(Torture, AnotherVersionOfHttpIs505) {
  for (const char* version : {"HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/3.0"})
    ExpectProblem(RefusalOf(std::string("GET /livez ") + version + "\r\nHost: localhost\r\n\r\n"),
                  505);
}

TEST_F(Torture, AHeaderBeyondTheLimitIs431) {
  const std::string start = "GET /livez HTTP/1.1\r\nHost: localhost\r\n";
  ExpectProblem(RefusalOf(start + "X: " + std::string(64 << 10, 'x') + "\r\n\r\n"), 431);
  ExpectProblem(RefusalOf("GET /" + std::string(64 << 10, 'x') + " HTTP/1.1\r\n\r\n"), 431);
  std::string many = start;
  for (int i = 0; i < 5'000; ++i) many += "X: y\r\n";
  ExpectProblem(RefusalOf(many + "\r\n"), 431);
  EXPECT_TRUE(IsAlive());
}

TEST_F(Torture, ABodyBeyondTheLimitIs413WhicheverWayItIsSent) {
  HttpConnection announced(port());
  announced.Send(
      FormatRequest(port(), "PUT", "/sessions", "",
                    {{"Content-Type", "application/json"}, {"Content-Length", "999999999999"}}));
  ExpectProblem(announced.ReadResponse(), 413);  // before a single byte of it

  HttpConnection chunked(port());
  chunked.Send(
      FormatRequest(port(), "PUT", "/sessions", "",
                    {{"Content-Type", "application/json"}, {"Transfer-Encoding", "chunked"}}));
  for (int i = 0; i < 33; ++i) chunked.Send("10000\r\n" + std::string(0x10000, ' ') + "\r\n");
  ExpectProblem(chunked.ReadResponse(), 413);

  ExpectProblem(RefusalOf("PUT /sessions HTTP/1.1\r\nHost: localhost\r\n"
                          "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "FFFFFFFFFFFFFFFFF\r\n"),
                413);
}

TEST_F(Torture, AClientThatAsksFirstIsToldToContinue) {
  HttpConnection connection(port());
  const std::string body = PutBody(NewKey(), 1);
  connection.Send(FormatRequest(port(), "PUT", "/sessions", "",
                                {{"Content-Type", "application/json"},
                                 {"Expect", "100-continue"},
                                 {"Content-Length", std::to_string(body.size())}}));
  EXPECT_EQ(connection.ReadResponse().status, 100);
  connection.Send(body);
  EXPECT_EQ(connection.ReadResponse().status, 201);
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

TEST_F(Torture, ClientsThatHangUpInTheMiddleDoNoHarm) {
  const std::string request = FormatRequest(port(), "PUT", "/sessions", PutBody(NewKey(), 1));
  for (std::size_t size = 0; size <= request.size(); size += 7) {
    HttpConnection reset(port());
    reset.Send(request.substr(0, size));
    reset.Reset();
    HttpConnection closed(port());
    closed.Send(request.substr(0, size));
    closed.HalfClose();
  }
  EXPECT_TRUE(IsAlive());
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

TEST_F(Torture, OneConnectionTooManyIsTurnedAwayWith503) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--set", "http.max_connections=3"});
  std::deque<HttpConnection> held;
  for (int i = 0; i < 3; ++i) {
    held.emplace_back(server->Port());
    EXPECT_EQ(held.back().Call("GET", "/livez").status, 200);
  }
  HttpConnection refused(server->Port());
  const HttpResponse response = refused.ReadResponse();
  ExpectProblem(response, 503);
  EXPECT_TRUE(response.FindHeader("Retry-After"));
  held.pop_back();
  Eventually("a place is free again", [&] {
    HttpConnection next(server->Port());
    next.Send(FormatRequest(server->Port(), "GET", "/livez"));
    return next.ReadResponse().status == 200;
  });
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

}  // namespace
}  // namespace tenure::api
