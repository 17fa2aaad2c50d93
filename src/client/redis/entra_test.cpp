// Tokens of Microsoft Entra in place of a password, at a real Redis: one of Azure takes them as the password of the user that
// they name.

#include <atomic>
#include <ctime>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "support/redis_server.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases {
namespace {

using support::RedisServer;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Milliseconds kLongEnough{20'000};

std::string TokenNaming(const std::string& claims, const std::string& mark = "") {
  return base::EncodeBase64Url(R"({"alg":"RS256"})") + "." + base::EncodeBase64Url(claims) + "." +
         base::EncodeBase64Url("signature" + mark);
}
std::string TokenOfUser(const std::string& user, const std::string& mark = "") {
  return TokenNaming(R"({"oid":")" + user + R"("})", mark);
}

class ScriptedTokens final : public TokenSource {
 public:
  explicit ScriptedTokens(std::function<AccessToken(int nth)> next) : next_(std::move(next)) {}
  AccessToken Get(std::string_view scope, std::chrono::milliseconds) override {
    EXPECT_EQ(scope, "https://redis.azure.com/.default");
    return next_(++asked);
  }
  std::atomic<int> asked = 0;

 private:
  const std::function<AccessToken(int)> next_;
};

class RedisOfAzure : public testing::Test {
 protected:
  void Takes(const std::string& user, const std::string& token) const {
    server_.Command({"acl", "setuser", user, "on", ">" + token, "~*", "&*", "+@all"});
  }
  std::unique_ptr<Provider> OpenWith(std::shared_ptr<TokenSource> source,
                                     const std::string& parameters = "") const {
    return OpenProvider(server_.TlsUrl(parameters), {.azure = {.credential = std::move(source)}});
  }
  std::string Refusal(const std::function<void()>& act) const {
    try {
      act();
    } catch (const AccessDenied& error) {
      return std::string("denied: ") + error.what();
    } catch (const std::invalid_argument& error) {
      return std::string("invalid: ") + error.what();
    }
    return "";
  }
  bool Serves(const std::string& user) const {
    return server_.Command({"client", "list"}).find("user=" + user + " ") != std::string::npos;
  }
  static std::shared_ptr<ScriptedTokens> Always(const std::string& token) {
    return std::make_shared<ScriptedTokens>([token](int) {
      return AccessToken{token, std::chrono::hours(1)};
    });
  }

  const RedisServer server_{{.durable = true, .tls = true}};
};

TEST_F(RedisOfAzure, ATokenIsShownForTheUserThatItNames) {
  const std::string token = TokenOfUser("oid-1");
  Takes("oid-1", token);
  const auto provider = OpenWith(Always(token));
  const auto connection = provider->Connect();
  EXPECT_TRUE(std::holds_alternative<Grant>(
      connection->Acquire({.name = "a", .term = NewTerm()}, kLongEnough)));
  EXPECT_TRUE(Serves("oid-1"));
  EXPECT_EQ(provider->stats().token_fetches.at(0).mode, "injected");
  const std::string nameless = TokenNaming("{}");
  Takes("app", nameless);
  EXPECT_EQ(Refusal([&] { OpenWith(Always(nameless), "user=app")->Connect(); }), "");
  EXPECT_THAT(Refusal([&] { OpenWith(Always(nameless)); }),
              HasSubstr("denied: the token of Azure"));
}

TEST_F(RedisOfAzure, AnotherTokenIsShownOnTheConnectionThatThereIs) {
  Takes("oid-1", TokenOfUser("oid-1"));
  Takes("oid-2", TokenOfUser("oid-2"));
  const auto source = std::make_shared<ScriptedTokens>([](int nth) {
    // The first one is renewed at half of its life.
    return nth == 1 ? AccessToken{TokenOfUser("oid-1"), std::chrono::seconds(2)}
                    : AccessToken{TokenOfUser("oid-2"), std::chrono::hours(1)};
  });
  const auto provider = OpenWith(source);
  const auto connection = provider->Connect();
  connection->Get("a", kLongEnough);
  while (!Serves("oid-2")) {
    connection->Get("a", kLongEnough);
    std::this_thread::sleep_for(Milliseconds(5));
  }
  EXPECT_FALSE(Serves("oid-1"));
  EXPECT_EQ(provider->stats().reconnects, 0);
}

TEST_F(RedisOfAzure, ATokenThatIsNotTakenIsReplacedOnceAndThenDenied) {
  const std::string good = TokenOfUser("oid-1", "good");
  const std::string bad = TokenOfUser("oid-1", "bad");
  Takes("oid-1", good);
  const auto source = std::make_shared<ScriptedTokens>([&](int nth) {
    return AccessToken{nth == 1 ? bad : good, std::chrono::hours(1)};
  });
  EXPECT_EQ(Refusal([&] { OpenWith(source); }), "");
  EXPECT_EQ(source->asked, 2);
  EXPECT_THAT(Refusal([&] { OpenWith(Always(bad)); }),
              AllOf(HasSubstr("denied: the Redis does not take the token: WRONGPASS"),
                    Not(HasSubstr(bad))));
}

TEST_F(RedisOfAzure, WhoWaitsIsToldOfReleasesAlsoUnderANewToken) {
  Takes("oid-1", TokenOfUser("oid-1"));
  const auto provider = OpenWith(Always(TokenOfUser("oid-1")));
  const auto first = provider->Connect();
  const std::string term = NewTerm();
  first->Acquire({.name = "a", .term = term, .ttl = Milliseconds(60'000)}, kLongEnough);
  std::thread waiter([&] {
    EXPECT_TRUE(std::holds_alternative<Grant>(provider->Connect()->Acquire(
        {.name = "a", .term = NewTerm(), .ttl = Milliseconds(60'000), .wait = kLongEnough},
        kLongEnough)));
  });
  while (first->Get("a", kLongEnough)->waiters == 0) std::this_thread::sleep_for(Milliseconds(5));
  first->Release({.name = "a", .term = term}, kLongEnough);
  waiter.join();
}

TEST_F(RedisOfAzure, TokensAreSentOverTlsOnlyAndAPasswordComesFirst) {
  const auto never = std::make_shared<ScriptedTokens>([](int) -> AccessToken {
    ADD_FAILURE() << "nobody is to be asked";
    return {};
  });
  EXPECT_THAT(Refusal([&] { OpenProvider(server_.Url(), {.azure = {.credential = never}}); }),
              HasSubstr("invalid: the address of the Redis has no TLS"));
  Takes("app", "pw");
  std::string url = server_.TlsUrl();
  url.insert(url.find("//") + 2, "app:pw@");
  EXPECT_EQ(Refusal([&] { OpenProvider(url, {.azure = {.credential = never}}); }), "");
}

}  // namespace
}  // namespace tenure::leases
