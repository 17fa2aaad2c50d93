#include "http/protection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/fences.hpp"
#include "http/trusted_proxies.hpp"

namespace tenure::http {
namespace {

using base::Fence;
using testing::ElementsAre;
using testing::IsEmpty;

bool IsVisit(std::vector<Header> headers) {
  Request request;
  request.method = Method::kGet;
  request.headers = std::move(headers);
  return CheckLocal(request, "http");
}

bool Accepted(std::vector<Header> headers, std::string_view scheme = "http") {
  Request request;
  request.method = Method::kGet;
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
  using Hosts = std::vector<const char*>;
  for (const auto& [what, hosts] : std::initializer_list<std::pair<const char*, Hosts>>{
           {"nobody's", {"", "::1", "[::1", "user@localhost", "localhost, localhost"}},
           {"another name", {"example.org", "localhost.example.org", "a.localhost", "localhost."}},
           {"no whole address", {"127.0.0", "127.1", "127..0.1", "127.0.0.1.1", "2130706433"}},
           {"not four numbers", {"127.0.0.256", "127.0.0.0001", "127.0.0.-1"}},
           {"another machine", {"128.0.0.1", "10.0.0.1:8080", "0.0.0.0", "[::2]"}},
           {"only like one", {"127.0.0.1.example.org", "[::ffff:127.0.0.1]"}},
           {"no port", {"localhost:", "localhost:x", "localhost:-1", "localhost:70000"}},
           {"two ports", {"localhost:80:80"}}})
    for (const char* host : hosts) EXPECT_FALSE(Accepted({{"Host", host}})) << what << ": " << host;
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

TEST(Protection, AVisitFromAnotherSiteIsToldFromEverythingElseThatItCouldSend) {
  const Header host{"Host", "127.0.0.1"};
  const Header foreign{"Sec-Fetch-Site", "cross-site"};
  const Header mode{"Sec-Fetch-Mode", "navigate"};
  const Header page{"Sec-Fetch-Dest", "document"};
  EXPECT_TRUE(IsVisit({host, foreign, mode, page}));
  EXPECT_FALSE(IsVisit({host, {"Sec-Fetch-Site", "same-origin"}, mode, page}));
  EXPECT_FALSE(Accepted({host, foreign, mode, {"Sec-Fetch-Dest", "iframe"}}));
  EXPECT_FALSE(
      Accepted({host, foreign, {"Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Dest", "script"}}));
  EXPECT_FALSE(Accepted({host, foreign, mode, page, {"Origin", "http://evil.example"}}));
}

TEST(Protection, WhatCameThroughAProxyIsNotLocal) {
  const Header host{"Host", "[::1]:8080"};
  for (const char* name : {"Forwarded", "forwarded", "Via", "X-Forwarded-For", "x-forwarded-host",
                           "X-Forwarded-Anything", "X-Real-IP", "x-real-ip"})
    EXPECT_FALSE(Accepted({host, {name, "1.2.3.4"}})) << name;
  EXPECT_TRUE(Accepted({host, {"X-Request-Id", "1"}, {"Vary", "x"}, {"From", "x"}}));
}

Request WithHeaders(std::vector<std::string_view> values) {
  Request request;
  request.method = Method::kPut;
  for (const std::string_view value : values) request.headers.push_back({"tenure-FENCE", value});
  return request;
}

/// The message of the refusal; empty when there is none.
std::string FenceComplaint(std::vector<std::string_view> values) {
  try {
    ReadFences(WithHeaders(std::move(values)));
  } catch (const ProblemError& error) {
    EXPECT_EQ(error.problem().status, 400);
    EXPECT_EQ(error.problem().errors.at(0).field, "Tenure-Fence");
    return error.problem().errors.at(0).message;
  }
  return "";
}

TEST(Fences, AreReadFromAnyNumberOfHeaders) {
  EXPECT_THAT(ReadFences(WithHeaders({})), IsEmpty());
  EXPECT_THAT(ReadFences(WithHeaders({"a=1", " db/shard:7.x_y@z-0=9007199254740991 ,\tb=2"})),
              ElementsAre(Fence{"default", "a", 1},
                          Fence{"default", "db/shard:7.x_y@z-0", 9'007'199'254'740'991},
                          Fence{"default", "b", 2}));
}

TEST(Fences, AreOfTheTokensTenant) {
  Request request = WithHeaders({"a=1"});
  request.principal = Known({.tenant = "acme"});
  EXPECT_THAT(ReadFences(request), ElementsAre(Fence{"acme", "a", 1}));
}

TEST(Fences, OfALookMeanNothing) {
  for (const Method method : {Method::kGet, Method::kHead}) {
    Request request = WithHeaders({"nonsense"});
    request.method = method;
    EXPECT_THAT(ReadFences(request), IsEmpty());
  }
}

TEST(Fences, WhatIsNoneIsRefusedByName) {
  const std::string long_name = std::string(201, 'n') + "=1";
  for (const std::string_view fence :
       {"", "0", "-1", "+1", "1.0", "1x", " 1", "b=1", "9007199254740992", "99999999999999999999"})
    EXPECT_NE(FenceComplaint({"a=" + std::string(fence)}), "") << fence;
  for (const std::string_view bad : {"", ",", "a", "=1", "a b=1", "a =1", "\xc3\xa9=1", "a=1,",
                                     ",a=1", "a=1,,b=2", long_name.c_str()})
    EXPECT_NE(FenceComplaint({bad}), "") << bad;
  EXPECT_EQ(FenceComplaint({std::string_view(long_name).substr(1)}), "");
}

TEST(Fences, AreAtMostEight) {
  EXPECT_EQ(FenceComplaint({"a=1,b=1,c=1,d=1", "e=1,f=1,g=1,h=1"}), "");
  EXPECT_EQ(FenceComplaint({"a=1,b=1,c=1,d=1", "e=1,f=1,g=1,h=1,i=1"}),
            "must not name more than 8 fences");
}

constexpr const char* kPeer = "10.0.0.1";

TrustedProxies Proxies(ForwardedBy by) {
  std::vector<base::IpBlock> blocks;
  for (const char* text : {"10.0.0.0/8", "2001:db8:5::/48"})
    blocks.push_back(*base::IpBlock::Parse(text));
  return {std::move(blocks), by};
}

std::string ClientOf(ForwardedBy by, std::vector<Header> headers) {
  Request request;
  request.headers = std::move(headers);
  return Proxies(by).ClientOf(*base::IpAddress::Parse(kPeer), request).ToString();
}

std::string XForwardedFor(std::string_view value) {
  return ClientOf(ForwardedBy::kXForwardedFor, {{"X-Forwarded-For", value}});
}

std::string Forwarded(std::string_view value) {
  return ClientOf(ForwardedBy::kForwarded, {{"Forwarded", value}});
}

TEST(TrustedProxies, NobodyIsTrustedWhoIsNotNamed) {
  const auto trusts = [](std::string_view text) {
    return Proxies(ForwardedBy::kForwarded).Trusts(*base::IpAddress::Parse(text));
  };
  EXPECT_TRUE(trusts("10.9.9.9"));
  EXPECT_TRUE(trusts("::ffff:10.9.9.9"));
  EXPECT_TRUE(trusts("2001:db8:5::1"));
  EXPECT_FALSE(trusts("11.0.0.1"));
  EXPECT_FALSE(trusts("2001:db8:6::1"));
  EXPECT_FALSE(TrustedProxies().Trusts(*base::IpAddress::Parse("127.0.0.1")));
}

TEST(TrustedProxies, WithoutTheHeaderTheProxyItselfAsks) {
  EXPECT_EQ(ClientOf(ForwardedBy::kXForwardedFor, {{"Host", "x"}}), kPeer);
}

TEST(TrustedProxies, TheFirstFromTheRightThatIsNotTrustedIsTheClient) {
  EXPECT_EQ(XForwardedFor("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(XForwardedFor("192.0.2.1, 10.0.0.7"), "192.0.2.1");
  EXPECT_EQ(XForwardedFor("1.1.1.1, 192.0.2.1,10.0.0.7 , 2001:db8:5::9"), "192.0.2.1");
  EXPECT_EQ(XForwardedFor("127.0.0.1, 192.0.2.1"), "192.0.2.1") << "its own claim";
}

TEST(TrustedProxies, WhenAllAreTrustedTheFarthestIsTheClient) {
  EXPECT_EQ(XForwardedFor("10.0.0.8, 10.0.0.7"), "10.0.0.8");
}

TEST(TrustedProxies, WhatIsNoAddressEndsTheWalkAtTheLastOneBeforeIt) {
  for (const char* garbage :
       {"unknown", "_hidden", "", " ", "example.com", "1.2.3", "192.0.2.1:99999x", "[::1", "[::1]x",
        "192.0.2.1:", "for=192.0.2.1", "\"192.0.2.1\"", "192.0.2.1 10.0.0.1"}) {
    EXPECT_EQ(XForwardedFor(garbage), kPeer) << garbage;
    EXPECT_EQ(XForwardedFor(std::string("192.0.2.1, ") + garbage), kPeer) << garbage;
    EXPECT_EQ(XForwardedFor(std::string("192.0.2.1, ") + garbage + ", 10.0.0.7"), "10.0.0.7")
        << garbage;
  }
}

TEST(TrustedProxies, AnEntryMayHaveAPort) {
  EXPECT_EQ(XForwardedFor("192.0.2.1:4711"), "192.0.2.1");
  EXPECT_EQ(XForwardedFor("[2001:db8::7]:4711"), "2001:db8::7");
  EXPECT_EQ(XForwardedFor("[2001:db8::7]"), "2001:db8::7");
  EXPECT_EQ(XForwardedFor("2001:db8::7"), "2001:db8::7");
  EXPECT_EQ(XForwardedFor("::ffff:192.0.2.1"), "192.0.2.1");
}

TEST(TrustedProxies, SeveralHeadersAreOneListFromTheFirstToTheLast) {
  EXPECT_EQ(ClientOf(ForwardedBy::kXForwardedFor, {{"X-Forwarded-For", "1.1.1.1"},
                                                   {"x-forwarded-for", "192.0.2.1"},
                                                   {"X-FORWARDED-FOR", "10.0.0.7"}}),
            "192.0.2.1");
}

TEST(TrustedProxies, ForwardedIsReadByItsStandard) {
  EXPECT_EQ(Forwarded("for=192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(Forwarded("For=192.0.2.1;proto=https;by=203.0.113.43"), "192.0.2.1");
  EXPECT_EQ(Forwarded("proto=https ; for=\"192.0.2.1:4711\""), "192.0.2.1");
  EXPECT_EQ(Forwarded("for=1.1.1.1, for=\"[2001:db8::7]:4711\", for=10.0.0.7"), "2001:db8::7");
}

TEST(TrustedProxies, AnElementOfForwardedThatNamesNoAddressEndsTheWalk) {
  for (const char* garbage : {"", "for", "for=", "for=unknown", "for=_x", "by=192.0.2.1",
                              "proto=https", "for=\"", "for=192.0.2.1\"", "for=\"192.0.2.1",
                              "for=192.0.2.1;for=192.0.2.2", "for=\"192.0.2.\\1\"", "192.0.2.1"})
    EXPECT_EQ(Forwarded(std::string("for=192.0.2.9, ") + garbage + ", for=10.0.0.7"), "10.0.0.7")
        << garbage;
}

TEST(TrustedProxies, AQuoteThatTheClientLeftOpenDoesNotSwallowWhatTheProxyAppended) {
  EXPECT_EQ(Forwarded("for=\"1.1.1.1, for=192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(Forwarded("for=\"1.1.1.1, for=10.0.0.7"), "10.0.0.7");
}

TEST(TrustedProxies, OnlyTheConfiguredHeaderIsBelieved) {
  const std::vector<Header> both{{"Forwarded", "for=1.1.1.1"}, {"X-Forwarded-For", "192.0.2.1"}};
  EXPECT_EQ(ClientOf(ForwardedBy::kXForwardedFor, both), "192.0.2.1");
  EXPECT_EQ(ClientOf(ForwardedBy::kForwarded, both), "1.1.1.1");
  EXPECT_EQ(ClientOf(ForwardedBy::kForwarded, {{"X-Forwarded-For", "192.0.2.1"}}), kPeer);
}

}  // namespace
}  // namespace tenure::http
