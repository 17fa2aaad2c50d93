#include "auth/authenticator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/signer.hpp"
#include "auth/token.hpp"

namespace tenure::auth {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kNowMs = 1'700'000'000'000;
constexpr std::string_view kClaims =
    R"({"iss":"i","aud":"tenure","exp":1700003600,"sub":"ada","tid":"t","scope":"a b"})";

const Signer& TestSigner() {
  static const Signer signer = Signer::Parse(
      R"({"kty":"oct","kid":"k","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH"})");
  return signer;
}

class Bearer : public testing::Test {
 protected:
  static KeyKeeper::Local Secret() { return {.secret = config::Secret(std::string(32, 's'))}; }
  static std::string Token(std::string_view claims = kClaims) {
    static const Signer signer =
        Signer::Parse(R"({"kty":"oct","k":"c3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3Nzc3M"})");
    return signer.Sign(claims);
  }
  http::PrincipalPtr Ask(const std::vector<std::string>& authorizations) {
    http::Request request;
    for (const std::string& value : authorizations)
      request.headers.push_back({"authorization", value});
    return authenticator_.Authenticate(request);
  }
  /// What is answered instead.
  http::Problem Refusal(const std::vector<std::string>& authorizations) {
    try {
      Ask(authorizations);
    } catch (const http::ProblemError& error) {
      return error.problem();
    }
    ADD_FAILURE() << "it was taken";
    return {};
  }
  std::string Count(const std::string& result) {
    const std::string text = metrics_.Text();
    const auto at = text.find("tenure_auth_tokens_total{result=\"" + result + "\"} ");
    return at == std::string::npos ? "none" : text.substr(text.find(' ', at) + 1, 1);
  }

  base::ManualClock clock_{kNowMs};
  telemetry::Registry metrics_;
  Probe probe_{metrics_};
  KeyKeeper keys_{Secret(), "", clock_, probe_};
  Authenticator authenticator_{{.issuer = "i", .audience = "tenure"}, keys_, clock_, probe_};
};

TEST_F(Bearer, AGoodTokenSaysWhoAsks) {
  for (const std::string scheme : {"Bearer ", "bearer ", "BEARER  "}) {
    const http::PrincipalPtr principal = Ask({scheme + Token()});
    EXPECT_EQ(principal->tenant, "t");
    EXPECT_EQ(principal->person, "ada");
    EXPECT_THAT(principal->scopes, testing::ElementsAre("a", "b"));
  }
  EXPECT_EQ(Count("verified"), "1");
  EXPECT_EQ(Count("remembered"), "2");
}

TEST_F(Bearer, WithoutATokenOneIsAskedFor) {
  for (const std::vector<std::string>& headers :
       std::vector<std::vector<std::string>>{{},
                                             {""},
                                             {"Bearer "},
                                             {"Bearer"},
                                             {"Basic YTpi"},
                                             {Token()},
                                             {"Bearer " + Token(), "Bearer " + Token()}}) {
    const http::Problem problem = Refusal(headers);
    EXPECT_EQ(problem.status, 401);
    EXPECT_EQ(problem.type, "unauthenticated");
    ASSERT_EQ(problem.headers.size(), 1U);
    EXPECT_EQ(problem.headers[0].first, "WWW-Authenticate");
    EXPECT_EQ(problem.headers[0].second, R"(Bearer realm="tenure")");
  }
}

TEST_F(Bearer, ABadTokenIsToldApartFromNone) {
  for (const std::string& token :
       {std::string("x"), Token() + "x", TestSigner().Sign(kClaims), std::string(20'000, 'x'),
        Token(R"({"iss":"i","aud":"other","exp":1700003600,"sub":"ada","tid":"t"})")}) {
    const http::Problem problem = Refusal({"Bearer " + token});
    EXPECT_EQ(problem.status, 401);
    EXPECT_EQ(problem.type, "invalid-token");
    EXPECT_THAT(problem.headers.at(0).second, HasSubstr(R"(error="invalid_token")"));
  }
}

TEST_F(Bearer, ATokenThatIsRememberedEndsInTime) {
  const std::string token = "Bearer " + Token();
  Ask({token});
  clock_.Advance(1'000);
  EXPECT_NO_THROW(Ask({token}));
  clock_.StepWall(3'630'000);
  EXPECT_THAT(Refusal({token}).detail, HasSubstr("It has expired."));
}

TEST_F(Bearer, ARefusedTokenIsRememberedForSomeSecondsOnly) {
  const std::string expired =
      "Bearer " + Token(R"({"iss":"i","aud":"tenure","exp":1600000000,"sub":"ada","tid":"t"})");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Refusal({expired}).detail, HasSubstr("It has expired."));
  clock_.StepWall(-200'000'000'000);  // what is remembered does not look at the clock again
  EXPECT_THAT(Refusal({expired}).detail, HasSubstr("It has expired."));
  clock_.Advance(RefusedTokens::kMaxAgeMs);
  EXPECT_NO_THROW(Ask({expired}));
}

TEST_F(Bearer, ATokenThatIsNotValidYetIsTakenAsSoonAsItIs) {
  const std::string token =
      "Bearer " +
      Token(
          R"({"iss":"i","aud":"tenure","exp":1700003600,"nbf":1700000031,"sub":"ada","tid":"t"})");
  EXPECT_THAT(Refusal({token}).detail, HasSubstr("It is not valid yet."));
  clock_.Advance(1'000);
  EXPECT_NO_THROW(Ask({token}));
}

TEST_F(Bearer, AKeyThatIsWithdrawnEndsItsTokensAtOnce) {
  const std::string token = "Bearer " + Token();
  Ask({token});
  keys_.Use({.secret = config::Secret(std::string(32, 'x'))});
  keys_.Step();
  EXPECT_EQ(Refusal({token}).type, "invalid-token");
}

TEST_F(Bearer, WhileTheIssuersKeysAreNotKnownNobodyCanTell) {
  KeyKeeper blind(Secret(), "http://127.0.0.1:1/keys", clock_, probe_);
  Authenticator authenticator({.issuer = "i", .audience = "tenure"}, blind, clock_, probe_);
  const auto status = [&](const std::string& token) {
    http::Request request;
    request.headers.push_back({"Authorization", token});
    try {
      authenticator.Authenticate(request);
      return 200;
    } catch (const http::ProblemError& error) {
      return error.problem().status;
    }
  };
  const std::string unknown = "Bearer " + Signer::Generate(Algorithm::kEdDsa).Sign(kClaims);
  EXPECT_EQ(status(unknown), 503);
  const std::string known = "Bearer " + Token();
  EXPECT_EQ(status(known), 200) << "by a key of this machine";
}

}  // namespace
}  // namespace tenure::auth
