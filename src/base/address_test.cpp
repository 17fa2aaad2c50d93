#include <initializer_list>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/ip.hpp"
#include "base/operator_url.hpp"

namespace tenure::base {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Address(std::string_view text) {
  const auto address = IpAddress::Parse(text);
  return address ? address->ToString() : "none";
}

std::string Block(std::string_view text) {
  const auto block = IpBlock::Parse(text);
  return block ? block->ToString() : "none";
}

bool Contains(std::string_view block, std::string_view address) {
  return IpBlock::Parse(block)->Contains(*IpAddress::Parse(address));
}

TEST(Ip, AnAddressHasOneSpelling) {
  EXPECT_EQ(Address("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(Address("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  EXPECT_EQ(Address("::1"), "::1");
  EXPECT_EQ(Address("::"), "::");
}

TEST(Ip, AMappedAddressIsTheIpv4AddressThatItMaps) {
  EXPECT_EQ(Address("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(Address("::ffff:c000:201"), "192.0.2.1");
  EXPECT_EQ(IpAddress::Parse("::ffff:192.0.2.1"), IpAddress::Parse("192.0.2.1"));
  EXPECT_NE(IpAddress::Parse("::192.0.2.1"), IpAddress::Parse("192.0.2.1"));
}

TEST(Ip, WhatIsNearlyAnAddressIsNone) {
  for (const std::string_view text : {"", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4",
                                      "0x1.2.3.4", "1.2.3.4 ", "127.1", "1.2.3.4:80"})
    EXPECT_EQ(Address(text), "none") << text;
  for (const std::string_view text : {"[::1]", "::1%eth0", ":::", "1:2:3:4:5:6:7", "::g",
                                      "1:2:3:4:5:6:7:8:9", "localhost", "unknown", "_hidden"})
    EXPECT_EQ(Address(text), "none") << text;
  EXPECT_EQ(Address(std::string_view("1.2.3.4\0", 8)), "none");
  EXPECT_EQ(Address(std::string(100'000, ':')), "none");
}

TEST(Ip, ABlockIsAnAddressOrAPrefixWithNothingBehindIt) {
  for (const char* text :
       {"10.0.0.0/8", "0.0.0.0/0", "192.0.2.128/25", "2001:db8::/32", "::/0", "192.0.2.1", "::1"})
    EXPECT_EQ(Block(text), text);
  EXPECT_EQ(Block("192.0.2.1/32"), "192.0.2.1");
  EXPECT_EQ(Block("::1/128"), "::1");
  EXPECT_EQ(Block("::ffff:10.0.0.0/104"), "10.0.0.0/8");
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/+8",
        "10.0.0.0/8 ", "10.0.0.0/8/8", "10.0.0.1/8", "2001:db8::1/32", "::/129",
        "::ffff:10.0.0.0/95", "10/8", "10.0.0.0/99999999999"})
    EXPECT_EQ(Block(text), "none") << text;
}

TEST(Ip, ABlockHasTheAddressesThatBeginWithIt) {
  EXPECT_TRUE(Contains("10.0.0.0/8", "10.255.255.255"));
  EXPECT_FALSE(Contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(Contains("192.0.2.128/25", "192.0.2.128"));
  EXPECT_FALSE(Contains("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(Contains("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(Contains("2001:db8::/33", "2001:db8:8000::1"));
  EXPECT_TRUE(Contains("192.0.2.1", "::ffff:192.0.2.1"));
  EXPECT_FALSE(Contains("192.0.2.1", "192.0.2.2"));
  EXPECT_TRUE(Contains("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(Contains("0.0.0.0/0", "::1"));
  EXPECT_FALSE(Contains("::/0", "8.8.8.8")) << "IPv4 is a world of its own";
}

TEST(OperatorUrl, IsHttpsOrThisMachine) {
  for (const char* url :
       {"https://collector", "https://collector.example:4318/v1/traces?tenant=a",
        "http://127.0.0.1:4318/v1/traces", "http://127.9.9.9/", "http://localhost:4318",
        "http://[::1]:4318/v1/traces", "https://[2001:db8::1]/x", "https://10.0.0.1/"})
    EXPECT_EQ(OperatorUrlProblem(url), std::nullopt) << url;
}

TEST(OperatorUrl, NothingThatTwoReadersReadDifferently) {
  using Urls = std::vector<const char*>;
  for (const auto& [what, urls] : std::initializer_list<std::pair<const char*, Urls>>{
           {"a scheme", {"", "collector", "ftp://127.0.0.1/", "HTTP://127.0.0.1/"}},
           {"a host", {"https://", "https:///x", "http://", "https://a b/", "https://a%20b/"}},
           {"IPv6", {"http://[::1", "http://[::1]x/", "http://[::1]:0/", "http://::1/"}},
           {"an address", {"https://[collector]/", "https://[fe80::1%25eth0]/"}},
           {"a port",
            {"https://collector:0/", "https://collector:65536/", "https://collector:/",
             "https://collector:-1/", "https://collector:1:2/"}},
           {"plain characters",
            {"https://collector/a\nb", "https://collector/\x7f", "https://collector/\xc3\xa9",
             "https://collector/#x", "https://collector\\x"}}})
    for (const char* url : urls)
      EXPECT_NE(OperatorUrlProblem(url), std::nullopt) << what << ": " << url;
  EXPECT_NE(OperatorUrlProblem("https://h/" + std::string(4'096, 'x')), std::nullopt);
}

TEST(OperatorUrl, ClearTextStaysOnThisMachine) {
  for (const char* url :
       {"http://collector/", "http://10.0.0.1/", "http://127.evil.example/", "http://127.1/",
        "http://127.0.0.1.evil.example/", "http://localhost.evil.example/", "http://[::2]/",
        "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/"})
    EXPECT_THAT(OperatorUrlProblem(url).value_or(""), HasSubstr("for this machine only")) << url;
}

TEST(OperatorUrl, APasswordIsRefusedAndNotRepeated) {
  for (const char* url : {"https://user:hunter2@collector/", "http://127.0.0.1@evil.example/",
                          "http://hunter2@127.0.0.1/"}) {
    EXPECT_THAT(OperatorUrlProblem(url).value_or(""), HasSubstr("user or a password")) << url;
    EXPECT_THAT(OperatorUrlProblem(url).value_or(""), Not(HasSubstr("hunter2"))) << url;
  }
}

}  // namespace
}  // namespace tenure::base
