#include "http/protection.hpp"

#include <gtest/gtest.h>

namespace tenure::http {
namespace {

bool Accepted(std::vector<Header> headers, std::string_view scheme = "http") {
  Request request;
  request.headers = std::move(headers);
  try {
    CheckLocal(request, scheme);
    return true;
  } catch (const ProblemError& error) {
    EXPECT_EQ(error.problem().status, 403);
    return false;
  }
}

TEST(Protection, OnlyNamesOfThisMachineAreHosts) {
  for (const char* host : {"localhost", "LocalHost", "localhost:8080", "127.0.0.1", "127.0.0.1:80",
                           "127.255.0.9:1", "[::1]", "[::1]:8080"})
    EXPECT_TRUE(Accepted({{"Host", host}})) << host;
  for (const char* host : {"",
                           "example.org",
                           "localhost.example.org",
                           "a.localhost",
                           "localhost.",
                           "128.0.0.1",
                           "127.0.0.1.example.org",
                           "127.0.0",
                           "127.0.0.256",
                           "127.0.0.1.1",
                           "127.1",
                           "127.0.0.0001",
                           "127..0.1",
                           "127.0.0.-1",
                           "[::2]",
                           "::1",
                           "[::1",
                           "[::ffff:127.0.0.1]",
                           "0.0.0.0",
                           "2130706433",
                           "localhost:",
                           "localhost:x",
                           "localhost:-1",
                           "localhost:70000",
                           "localhost:80:80",
                           "user@localhost",
                           "localhost, localhost",
                           "10.0.0.1:8080"})
    EXPECT_FALSE(Accepted({{"Host", host}})) << host;
  EXPECT_FALSE(Accepted({}));
}

TEST(Protection, OnlyItsOwnPagesMayAsk) {
  const Header host{"Host", "localhost:8080"};
  EXPECT_TRUE(Accepted({host, {"Origin", "http://localhost:8080"}}));
  EXPECT_TRUE(Accepted({host, {"origin", "HTTP://LOCALHOST:8080"}}));
  EXPECT_TRUE(Accepted({host, {"Origin", "https://localhost:8080"}}, "https"));
  EXPECT_FALSE(Accepted({host, {"Origin", "http://localhost:8080"}}, "https"));
  EXPECT_TRUE(Accepted({{"Host", "localhost"}, {"Origin", "https://localhost"}}, "https"));
  for (const char* origin :
       {"null", "", "http://localhost", "http://localhost:8081", "https://localhost",
        "http://127.0.0.1:8080", "http://evil.example", "http://localhost:8080.evil.example",
        "localhost:8080", "https://localhost:8080"})
    EXPECT_FALSE(Accepted({host, {"Origin", origin}})) << origin;
  EXPECT_FALSE(Accepted({{"Host", "localhost"}, {"Origin", "https://localhost"}}));
  EXPECT_FALSE(
      Accepted({host, {"Origin", "http://localhost:8080"}, {"Origin", "http://evil.example"}}));
}

TEST(Protection, TheBrowsersWordCounts) {
  const Header host{"Host", "127.0.0.1"};
  EXPECT_TRUE(Accepted({host, {"Sec-Fetch-Site", "same-origin"}}));
  EXPECT_TRUE(Accepted({host, {"Sec-Fetch-Site", "none"}}));
  for (const char* site : {"cross-site", "same-site", "", "x"})
    EXPECT_FALSE(Accepted({host, {"sec-fetch-site", site}})) << site;
}

TEST(Protection, WhatCameThroughAProxyIsNotLocal) {
  const Header host{"Host", "[::1]:8080"};
  for (const char* name : {"Forwarded", "forwarded", "Via", "X-Forwarded-For", "x-forwarded-host",
                           "X-Forwarded-Anything", "X-Real-IP", "x-real-ip"})
    EXPECT_FALSE(Accepted({host, {name, "1.2.3.4"}})) << name;
  EXPECT_TRUE(Accepted({host, {"X-Request-Id", "1"}, {"Vary", "x"}, {"From", "x"}}));
}

}  // namespace
}  // namespace tenure::http
