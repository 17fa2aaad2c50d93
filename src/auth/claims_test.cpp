#include "auth/claims.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/jws.hpp"

namespace tenure::auth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kNowMs = 1'700'000'000'000;

ClaimRules Rules() {
  ClaimRules rules;
  rules.issuer = "https://issuer.example";
  rules.audience = "tenure";
  return rules;
}

/// A payload that is taken, with the members `changed` instead of its own ("aud" and its value;
/// an empty value leaves it out).
std::string Payload(std::vector<std::pair<std::string, std::string>> changed = {}) {
  std::vector<std::pair<std::string, std::string>> members{{"iss", R"("https://issuer.example")"},
                                                           {"aud", R"("tenure")"},
                                                           {"exp", "1700000600"},
                                                           {"sub", R"("ada")"},
                                                           {"tid", R"("t1")"},
                                                           {"scope", R"("a:read b")"}};
  for (const auto& [name, value] : changed) {
    const auto found =
        std::ranges::find(members, name, &std::pair<std::string, std::string>::first);
    if (found == members.end())
      members.emplace_back(name, value);
    else
      found->second = value;
  }
  std::string text = "{";
  for (const auto& [name, value] : members)
    if (!value.empty()) text += (text.size() > 1 ? ",\"" : "\"") + name + "\":" + value;
  return text + "}";
}

Claims Read(const std::string& payload, std::int64_t now_ms = kNowMs) {
  return ReadClaims(payload, Rules(), now_ms);
}

std::string Complaint(const std::string& payload, std::int64_t now_ms = kNowMs) {
  try {
    Read(payload, now_ms);
    return {};
  } catch (const TokenError& error) {
    return error.what();
  }
}

TEST(Claims, TenantPersonAndScopes) {
  const Claims claims = Read(Payload());
  EXPECT_EQ(claims.principal.tenant, "t1");
  EXPECT_EQ(claims.principal.person, "ada");
  EXPECT_THAT(claims.principal.scopes, ElementsAre("a:read", "b"));
  EXPECT_EQ(claims.expires_ms, 1'700'000'630'000) << "the leeway included";
}

TEST(Claims, TheAudienceMayBeOneOfSeveral) {
  EXPECT_EQ(Complaint(Payload({{"aud", R"(["other","tenure"])"}})), "");
  for (const char* audience :
       {R"("other")", R"(["other"])", "[]", R"("Tenure")", R"(" tenure")", R"(["tenure2"])", "1",
        "null", R"({"tenure":1})", R"([["tenure"]])", ""})
    EXPECT_THAT(Complaint(Payload({{"aud", audience}})), HasSubstr("aud")) << audience;
}

TEST(Claims, TheIssuerIsTakenToTheLetter) {
  for (const char* issuer : {R"("https://issuer.example/")", R"("https://issuer.exampl")",
                             R"(["https://issuer.example"])", "null", ""})
    EXPECT_THAT(Complaint(Payload({{"iss", issuer}})), HasSubstr("iss")) << issuer;
}

TEST(Claims, ATokenEndsAtExpAndTheLeeway) {
  const std::int64_t end_ms = 1'700'000'600'000 + Rules().leeway_ms;
  EXPECT_EQ(Complaint(Payload(), end_ms - 1), "");
  EXPECT_EQ(Complaint(Payload(), end_ms), "It has expired.");
  EXPECT_THAT(Complaint(Payload({{"exp", ""}})), HasSubstr("no 'exp'"));
  EXPECT_EQ(Complaint(Payload({{"exp", "1700000600.5"}})), "");
  for (const char* exp : {R"("1700000600")", "null", "-1", "1e300", "[]", "true"})
    EXPECT_THAT(Complaint(Payload({{"exp", exp}})), HasSubstr("not a time")) << exp;
}

TEST(Claims, ATokenBeginsAtNbfLessTheLeeway) {
  const std::string payload = Payload({{"nbf", "1700000100"}});
  const std::int64_t begin_ms = 1'700'000'100'000 - Rules().leeway_ms;
  EXPECT_EQ(Complaint(payload, begin_ms - 1), "It is not valid yet.");
  EXPECT_EQ(Complaint(payload, begin_ms), "");
  EXPECT_THAT(Complaint(Payload({{"nbf", R"("soon")"}})), HasSubstr("not a time"));
}

TEST(Claims, TheTenantIsTidElseOrgIdUnlessSaidOtherwise) {
  EXPECT_EQ(Read(Payload({{"org_id", R"("o")"}})).principal.tenant, "t1");
  EXPECT_EQ(Read(Payload({{"tid", ""}, {"org_id", R"("o")"}})).principal.tenant, "o");
  ClaimRules rules = Rules();
  rules.tenant_claims = {"company"};
  EXPECT_EQ(ReadClaims(Payload({{"company", R"("c")"}}), rules, kNowMs).principal.tenant, "c");
  EXPECT_THROW(ReadClaims(Payload(), rules, kNowMs), TokenError);
}

TEST(Claims, ATokenWithoutATenantOrAPersonIsNobodys) {
  EXPECT_THAT(Complaint(Payload({{"tid", ""}})), HasSubstr("'tid' or 'org_id'"));
  for (const char* claim : {"tid", "sub"})
    for (const std::string& value : {std::string(R"("")"), std::string("1"), std::string("null"),
                                     std::string(R"(["t1"])"), "\"" + std::string(201, 'x') + "\""})
      EXPECT_THAT(Complaint(Payload({{claim, value}, {"org_id", R"("o")"}})), HasSubstr(claim))
          << value;
  EXPECT_THAT(Complaint(Payload({{"sub", ""}})), HasSubstr("sub"));
  EXPECT_NE(Complaint(Payload({{"tid", R"("t\u0000")"}})), "");
}

TEST(Claims, ScopesAreTextOrAListUnderEitherName) {
  const auto scopes = [](const std::string& name, const std::string& value) {
    return Read(Payload({{"scope", ""}, {name, value}})).principal.scopes;
  };
  EXPECT_THAT(scopes("scp", R"("a b")"), ElementsAre("a", "b"));
  EXPECT_THAT(scopes("scp", R"(["a","b c"])"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(scopes("scope", R"(["a"])"), ElementsAre("a"));
  EXPECT_THAT(scopes("scope", R"("  a   b ")"), ElementsAre("a", "b"));
  EXPECT_THAT(scopes("other", R"("a")"), IsEmpty());
  EXPECT_THAT(Read(Payload({{"scp", R"("admin")"}})).principal.scopes, ElementsAre("a:read", "b"))
      << "scope comes first";
  EXPECT_THAT(Complaint(Payload({{"scope", "1"}})), HasSubstr("scope"));
}

TEST(Claims, ANameThatStandsTwiceOrSomethingElseThanAnObjectIsRefused) {
  std::string twice = Payload();
  twice.back() = ',';
  for (const std::string& payload :
       {twice + R"("tid":"t2"})", twice + R"("exp":1900000000})", std::string("[]"), std::string(),
        std::string("null"), Payload() + "{}", std::string("{")})
    EXPECT_THAT(Complaint(payload), HasSubstr("each name stands once")) << payload;
}

}  // namespace
}  // namespace tenure::auth
