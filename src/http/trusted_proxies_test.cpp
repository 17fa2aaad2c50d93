#include "http/trusted_proxies.hpp"

#include <gtest/gtest.h>

namespace tenure::http {
namespace {

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
