// Where nothing may be sent to, in every spelling.

#include "push/target.hpp"

#include <array>
#include <condition_variable>
#include <future>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "push/resolver.hpp"

namespace tenure::push {
namespace {

using testing::HasSubstr;
using Hosts = std::vector<AllowedHost>;

const Hosts kAll{{"*", false}};

std::string ProblemOf(const std::string& url, const Hosts& allowed = kAll) {
  return TargetProblem(allowed, url).value_or("");
}

TEST(PushTargets, PublicOnesAreTaken) {
  for (const char* url :
       {"https://hooks.example.com", "https://hooks.example.com:8443/a?b=c", "https://8.8.8.8/",
        "https://[2606:4700:4700::1111]/", "https://HOOKS.example.COM/", "https://1.example.com/",
        "https://a-b_c.example/", "https://[64:ff9b::8.8.8.8]/", "https://[2002:808:808::1]/"})
    EXPECT_EQ(ProblemOf(url), "") << url;
}

TEST(PushTargets, AddressesThatOnlyWeCanReachAreNot) {
  for (const char* host :
       {"0.0.0.0",     "0.1.2.3",         "10.0.0.1",        "100.64.0.1",     "127.0.0.1",
        "127.255.0.1", "169.254.169.254", "172.16.0.1",      "172.31.255.255", "192.0.0.8",
        "192.0.2.1",   "192.168.1.1",     "198.18.0.1",      "198.19.255.255", "198.51.100.7",
        "203.0.113.9", "224.0.0.1",       "239.255.255.250", "240.0.0.1",      "255.255.255.255",
        "192.88.99.1"})
    EXPECT_NE(ProblemOf(std::string("https://") + host + "/"), "") << host;
  for (const char* host : {"::",
                           "::1",
                           "::ffff:127.0.0.1",
                           "::ffff:8.8.8.8",
                           "::ffff:7f00:1",
                           "::127.0.0.1",
                           "fe80::1",
                           "fc00::1",
                           "fd12:3456::1",
                           "fec0::1",
                           "ff02::1",
                           "2001:db8::1",
                           "3fff::1",
                           "2001::1",
                           "2001:2::1",
                           "2001:10::1",
                           "64:ff9b::7f00:1",
                           "64:ff9b::10.0.0.1",
                           "64:ff9b:1::1",
                           "2002:7f00:1::",
                           "2002:a00:1::1",
                           "2002:a9fe:a9fe::",
                           "100::1",
                           "4000::1",
                           "5f00::1"})
    EXPECT_NE(ProblemOf(std::string("https://[") + host + "]/"), "") << host;
}

TEST(PushTargets, OddSpellingsOfNumbersAreRefusedAsSuch) {
  for (const char* host : {"2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0x7f000001", "127.0.1",
                           "017700000001", "8.8.8", "1.2.3.4.5", "0x8.0x8.0x8.0x8", "256.1.1.1",
                           "08.8.8.8", "localhost.1", "0x", "127.0.0.0x1"})
    EXPECT_THAT(ProblemOf(std::string("https://") + host + "/"), HasSubstr("odd spelling")) << host;
}

TEST(PushTargets, AUrlThatTwoReadersTakeForTwoIsNone) {
  for (const char* url : {"http://hooks.example.com/",
                          "ftp://x",
                          "https://",
                          "https:///x",
                          "https://a@b.example/",
                          "https://user:pw@b.example/",
                          "https://b.example#x",
                          "https://b.example\\@c.example/",
                          "https://b.example /",
                          "https://b.example\t/",
                          "https://b.ex\xC3\xA4mple/",
                          "https://b.example:0/",
                          "https://b.example:65536/",
                          "https://b.example:/",
                          "https://b.example:443x/",
                          "https://b.example./",
                          "https://.b.example/",
                          "https://b..c/",
                          "https://-b.example/",
                          "https://b%2eexample/",
                          "https://[::1/",
                          "https://[::1%25lo]/",
                          "https://[fe80::1%lo]/",
                          "https://[127.0.0.1]/",
                          "HTTPS://b.example/",
                          "https://127.0.0.1%00.example/",
                          "https://*.example.com/"})
    EXPECT_NE(ProblemOf(url), "") << url;
  EXPECT_NE(ProblemOf("https://b.example/" + std::string(kMaxUrlBytes, 'x')), "");
}

TEST(PushTargets, TheListOfTheOperatorDecides) {
  const Hosts hosts{{"hooks.example.com", false}, {"*.partner.example", false}};
  EXPECT_EQ(ProblemOf("https://hooks.example.com/", hosts), "");
  EXPECT_EQ(ProblemOf("https://a.partner.example/", hosts), "");
  EXPECT_EQ(ProblemOf("https://a.b.partner.example/", hosts), "");
  for (const char* host : {"example.com", "xhooks.example.com", "hooks.example.com.evil.example",
                           "partner.example", "xpartner.example", "8.8.8.8"})
    EXPECT_THAT(ProblemOf(std::string("https://") + host, hosts), HasSubstr("push.allow")) << host;
}

TEST(PushTargets, APrivateOneMustBeNamedItself) {
  const Hosts hosts{*AllowedHost::Parse("private 10.1.2.3"),
                    *AllowedHost::Parse("private fd00::0:1"),
                    {"*", false}};
  EXPECT_EQ(ProblemOf("https://10.1.2.3:8443/", hosts), "");
  EXPECT_EQ(ProblemOf("https://[fd00:0::1]/", hosts), "");
  EXPECT_NE(ProblemOf("https://10.1.2.4/", hosts), "");
  EXPECT_NE(ProblemOf("https://0xa010203/", hosts), "");
  for (const char* bad : {"private *", "private *.example.com", "", "*x", "*.", "a b", "10.1.2.3/8",
                          "https://x", "x:1", "0x7f.1"})
    EXPECT_FALSE(AllowedHost::Parse(bad)) << bad;
}

HostAddress At(const char* text) { return HostAddress::Parse(text).value(); }

TEST(PushTargets, OneAddressThatIsNotAllowedSpoilsTheLookUp) {
  const std::vector<HostAddress> mixed{At("8.8.8.8"), At("10.0.0.1")};
  EXPECT_TRUE(AddressesProblem(mixed, {}, Allowance::kPublic));
  EXPECT_FALSE(AddressesProblem(mixed, {}, Allowance::kAnywhere));
  EXPECT_FALSE(AddressesProblem({At("8.8.8.8")}, {}, Allowance::kPublic));
  EXPECT_TRUE(AddressesProblem({At("8.8.8.8")}, {At("8.8.8.8")}, Allowance::kPublic)) << "our own";
  EXPECT_TRUE(AddressesProblem({}, {}, Allowance::kPublic));
  EXPECT_TRUE(AddressesProblem({At("8.8.8.8")}, {}, Allowance::kRefused));
}

/// A name server that answers when the test says so.
class SlowNames {
 public:
  Resolved LookUp(const std::string& host) {
    std::unique_lock lock(mutex_);
    ++asked_[host];
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_open_ || host != "slow.example"; });
    return {{At("8.8.8.8")}, {}};
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  int Asked(const std::string& host) {
    const std::lock_guard lock(mutex_);
    return asked_[host];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  std::map<std::string, int> asked_;
};

std::future<Resolved> Find(Resolver& resolver, const std::string& host, std::int64_t timeout_ms) {
  auto promise = std::make_shared<std::promise<Resolved>>();
  auto future = promise->get_future();
  resolver.Find(host, timeout_ms,
                [promise](Resolved found) { promise->set_value(std::move(found)); });
  return future;
}

TEST(PushResolver, ANameServerThatHangsDelaysOnlyThoseWhoAskForItsNames) {
  const auto names = std::make_shared<SlowNames>();
  Resolver resolver([names](const std::string& host) { return names->LookUp(host); });
  auto patient = Find(resolver, "slow.example", 60'000);
  auto impatient = Find(resolver, "slow.example", 10);
  EXPECT_EQ(Find(resolver, "quick.example", 60'000).get().addresses.size(), 1u);
  EXPECT_THAT(impatient.get().error, HasSubstr("in time"));
  names->Open();
  EXPECT_EQ(patient.get().addresses.size(), 1u);
  EXPECT_EQ(names->Asked("slow.example"), 1) << "whoever asks meanwhile shares the look-up";
}

TEST(PushResolver, AnswersEverybodyWhenItStops) {
  const auto names = std::make_shared<SlowNames>();
  Resolver resolver([names](const std::string& host) { return names->LookUp(host); });
  auto waiting = Find(resolver, "slow.example", 60'000);
  resolver.Stop();
  EXPECT_THAT(waiting.get().error, HasSubstr("stopping"));
  EXPECT_THAT(Find(resolver, "quick.example", 60'000).get().error, HasSubstr("stopping"));
  names->Open();
}

}  // namespace
}  // namespace tenure::push
