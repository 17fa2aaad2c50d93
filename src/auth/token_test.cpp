#include "auth/token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/key_text.hpp"
#include "auth/signer.hpp"
#include "base/base64.hpp"

namespace tenure::auth {
namespace {

using base::EncodeBase64Url;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kPayload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlf"
    "Q";

struct Vector {
  const char* name;
  const char* jwk;
  std::string token;
};

std::vector<Vector> Vectors() {
  const std::string payload(kPayload);
  return {
      {"RFC 7515 A.1",
       R"({"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75)"
       R"(aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"})",
       "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + payload +
           ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
      {"RFC 7515 A.2",
       R"({"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmf)"
       R"(HQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wG)"
       R"(zjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZ)"
       R"(lxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54)"
       R"(h4FRWyuXpoQ"})",
       "eyJhbGciOiJSUzI1NiJ9." + payload +
           ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
           "O8W"
           "2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_"
           "nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSj"
           "tQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-"
           "eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh"
           "6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"},
      {"RFC 7515 A.3",
       R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
       R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})",
       "eyJhbGciOiJFUzI1NiJ9." + payload +
           ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-"
           "Kg6NU1Q"},
      {"RFC 8037 A.4",
       R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})",
       "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcv"
       "Mg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"},
  };
}

KeySet KeysOf(std::string_view jwk) { return {.keys = ParseKeyFile(jwk), .generation = 1}; }

/// A token as an attacker writes it: any header, any claims, any signature.
std::string Forged(std::string_view header, std::string_view signature,
                   std::string_view claims = "{}") {
  return EncodeBase64Url(header) + "." + EncodeBase64Url(claims) + "." + EncodeBase64Url(signature);
}

SignatureCheck CheckOf(const std::string& token, const KeySet& keys) {
  return Verify(ParseJws(token), keys);
}

TEST(Jws, TheStandardsOwnExamplesAreVerified) {
  for (const Vector& vector : Vectors())
    EXPECT_EQ(CheckOf(vector.token, KeysOf(vector.jwk)), SignatureCheck::kGood) << vector.name;
}

TEST(Jws, AnyChangedByteOfTheSignedPartOrTheSignatureIsSeen) {
  for (const Vector& vector : Vectors()) {
    const KeySet keys = KeysOf(vector.jwk);
    const std::size_t dot = vector.token.find('.');
    for (const std::size_t at : {dot + 5, vector.token.rfind('.') + 1, vector.token.size() - 9}) {
      std::string token = vector.token;
      token[at] = token[at] == 'A' ? 'B' : 'A';
      EXPECT_EQ(CheckOf(token, keys), SignatureCheck::kBad) << vector.name << " at " << at;
    }
  }
}

TEST(Jws, ATokenIsWrittenInOneWayOnly) {
  for (const Vector& vector : Vectors()) {
    const std::string& token = vector.token;
    const auto dot = token.rfind('.');
    for (const std::string& other :
         {token + "=", token + "A", token + "\n", " " + token, token + ".", "." + token,
          token.substr(0, dot), token.substr(0, dot + 1), token.substr(0, token.size() / 3),
          token + ".x", std::string(), std::string(".."), std::string("...")}) {
      bool good = false;
      try {
        good = CheckOf(other, KeysOf(vector.jwk)) == SignatureCheck::kGood;
      } catch (const TokenError&) {
        good = false;
      }
      EXPECT_FALSE(good) << vector.name << ": " << other;
    }
  }
  // The last character of 64 bytes carries four bits that must be 0.
  std::string token = Vectors()[2].token;
  token.back() = 'R';
  EXPECT_THROW(ParseJws(token), TokenError);
}

TEST(Jws, NoneIsNoAlgorithmInWhateverSpelling) {
  for (const char* algorithm : {"none", "None", "NONE", "nOnE", "", "HS512", "RS512", "hs256",
                                "PS256", "ES384", "A128KW", "dir"})
    for (const char* signature : {"", "x"})
      EXPECT_THROW(ParseJws(Forged(R"({"alg":")" + std::string(algorithm) + R"("})", signature)),
                   TokenError)
          << algorithm;
  for (const char* header : {R"({})", R"({"alg":null})", R"({"alg":["HS256"]})", R"({"alg":1})"})
    EXPECT_THROW(ParseJws(Forged(header, "x")), TokenError) << header;
}

TEST(Jws, APublicKeyIsNeverASecret) {
  const Signer rsa = Signer::Generate(Algorithm::kRs256);
  const KeySet keys = KeysOf(rsa.public_jwk());
  // What the attacker knows, in every form that a careless server might have at hand.
  for (const std::string& secret : {rsa.public_jwk(), std::string(Vectors()[1].jwk)}) {
    const std::string header = R"({"alg":"HS256","kid":")" + rsa.kid() + R"("})";
    const std::string input = EncodeBase64Url(header) + "." + EncodeBase64Url("{}");
    const Digest mac = Hmac(NewHmac(secret).get(), input);
    const std::string token = input + "." + EncodeBase64Url(std::string(mac.begin(), mac.end()));
    EXPECT_EQ(CheckOf(token, keys), SignatureCheck::kNoKey);
  }
}

TEST(Jws, AKeyIdSelectsAmongOurKeysAndDoesNothingElse) {
  const Signer ours = Signer::Generate(Algorithm::kEdDsa);
  const KeySet keys = KeysOf(ours.public_jwk());
  for (const char* kid : {"../../../../dev/null", "' or '1'='1", "", "key|cat /etc/passwd"})
    EXPECT_EQ(CheckOf(Forged(R"({"alg":"EdDSA","kid":")" + std::string(kid) + R"("})", "x"), keys),
              SignatureCheck::kNoKey)
        << kid;
  for (const std::string& header :
       {std::string(R"({"alg":"EdDSA","kid":1})"), std::string(R"({"alg":"EdDSA","kid":{}})"),
        R"({"alg":"EdDSA","kid":")" + std::string(201, 'k') + R"("})",
        std::string(R"({"alg":"EdDSA","kid":"a\u0000b"})")})
    EXPECT_THROW(ParseJws(Forged(header, "x")), TokenError) << header;
}

TEST(Jws, AKeyThatTheTokenBringsAlongIsNotLookedAt) {
  const Signer ours = Signer::Generate(Algorithm::kEs256);
  const Signer theirs = Signer::Generate(Algorithm::kEs256);
  const KeySet keys = KeysOf(ours.public_jwk());
  std::string jwk = theirs.public_jwk();
  jwk.pop_back();
  // Signed by their own key, which stands in the header: as good as unsigned.
  const std::string token = theirs.Sign("{}");
  const std::string signature = token.substr(token.rfind('.') + 1);
  for (const std::string& extra :
       {R"("jwk":)" + jwk, std::string(R"("jku":"http://127.0.0.1:1/keys")"),
        std::string(R"("x5u":"http://127.0.0.1:1/cert")"), std::string(R"("x5c":["AAAA"])")})
    EXPECT_EQ(CheckOf(EncodeBase64Url(R"({"alg":"ES256",)" + extra + "}") + "." +
                          EncodeBase64Url("{}") + "." + signature,
                      keys),
              SignatureCheck::kBad)
        << extra;
}

TEST(Jws, ACriticalExtensionIsRefused) {
  for (const char* header : {R"({"alg":"HS256","crit":["b64"],"b64":false})",
                             R"({"alg":"HS256","crit":[]})", R"({"alg":"HS256","crit":null})"})
    EXPECT_THROW(ParseJws(Forged(header, "x")), TokenError) << header;
}

TEST(Jws, AHeaderThatTwoReadersSeeDifferentlyIsRefused) {
  for (const char* header :
       {R"({"alg":"HS256","alg":"none"})", R"({"alg":"none","alg":"HS256"})",
        R"({"alg":"HS256"}{"alg":"none"})", R"({"alg":"HS256"} x)", R"(["alg"])", R"("HS256")",
        R"({"alg":"HS256","a":{"b":1,"b":2}})", "{\"alg\":\"HS256\xff\"}", R"({'alg':'HS256'})", "",
        R"({"al\u0067":"HS256","alg":"none"})"})
    EXPECT_THROW(ParseJws(Forged(header, "x")), TokenError) << header;
}

TEST(Jws, WhatIsTooLongIsNotLookedAt) {
  EXPECT_THROW(ParseJws(std::string(kMaxTokenBytes + 1, 'a')), TokenError);
  EXPECT_THROW(ParseJws(Forged(R"({"alg":"HS256"})", "x", std::string(kMaxTokenBytes, ' '))),
               TokenError);
}

TEST(Jws, AnEs256SignatureIsTwoNumbersOfTheCurveAndNothingElse) {
  const Signer signer = Signer::Generate(Algorithm::kEs256);
  const KeySet keys = KeysOf(signer.public_jwk());
  const std::string header = R"({"alg":"ES256","kid":")" + signer.kid() + R"("})";
  for (const std::string& signature :
       {std::string(64, '\0'), std::string(64, '\xff'), std::string(63, '\x01'),
        std::string(65, '\x01'), std::string(32, '\0') + std::string(32, '\x01'),
        std::string(32, '\x01') + std::string(32, '\0'),
        std::string("\x30\x06\x02\x01\x01\x02\x01\x01")})
    EXPECT_EQ(CheckOf(Forged(header, signature), keys), SignatureCheck::kBad);
}

TEST(Jws, WhereSeveralKeysShareAnAlgorithmATokenNamesItsOwn) {
  KeySet keys;
  std::string last;
  for (std::size_t i = 0; i < 2; ++i) {
    const Signer signer = Signer::Generate(Algorithm::kEdDsa);
    keys.keys.push_back(ParseKeyFile(signer.public_jwk()).front());
    last = signer.Sign("{}");
  }
  EXPECT_EQ(CheckOf(last, keys), SignatureCheck::kGood) << "it says which key it is";
  EXPECT_EQ(CheckOf(Forged(R"({"alg":"EdDSA"})", std::string(64, 'x')), keys),
            SignatureCheck::kAmbiguous);
  keys.keys.pop_back();
  EXPECT_EQ(CheckOf(Forged(R"({"alg":"EdDSA"})", std::string(64, 'x')), keys), SignatureCheck::kBad)
      << "there is only one that it can be";
}

constexpr std::int64_t kReadMs = 1'700'000'000'000;

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

Claims Read(const std::string& payload, std::int64_t now_ms = kReadMs) {
  return ReadClaims(payload, Rules(), now_ms);
}

std::string ComplaintOfClaims(const std::string& payload, std::int64_t now_ms = kReadMs) {
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
  EXPECT_EQ(ComplaintOfClaims(Payload({{"aud", R"(["other","tenure"])"}})), "");
  for (const char* audience :
       {R"("other")", R"(["other"])", "[]", R"("Tenure")", R"(" tenure")", R"(["tenure2"])", "1",
        "null", R"({"tenure":1})", R"([["tenure"]])", ""})
    EXPECT_THAT(ComplaintOfClaims(Payload({{"aud", audience}})), HasSubstr("aud")) << audience;
}

TEST(Claims, TheIssuerIsTakenToTheLetter) {
  for (const char* issuer : {R"("https://issuer.example/")", R"("https://issuer.exampl")",
                             R"(["https://issuer.example"])", "null", ""})
    EXPECT_THAT(ComplaintOfClaims(Payload({{"iss", issuer}})), HasSubstr("iss")) << issuer;
}

TEST(Claims, ATokenEndsAtExpAndTheLeeway) {
  const std::int64_t end_ms = 1'700'000'600'000 + Rules().leeway_ms;
  EXPECT_EQ(ComplaintOfClaims(Payload(), end_ms - 1), "");
  EXPECT_EQ(ComplaintOfClaims(Payload(), end_ms), "It has expired.");
  EXPECT_THAT(ComplaintOfClaims(Payload({{"exp", ""}})), HasSubstr("no 'exp'"));
  EXPECT_EQ(ComplaintOfClaims(Payload({{"exp", "1700000600.5"}})), "");
  for (const char* exp : {R"("1700000600")", "null", "-1", "1e300", "[]", "true"})
    EXPECT_THAT(ComplaintOfClaims(Payload({{"exp", exp}})), HasSubstr("not a time")) << exp;
}

TEST(Claims, ATokenBeginsAtNbfLessTheLeeway) {
  const std::string payload = Payload({{"nbf", "1700000100"}});
  const std::int64_t begin_ms = 1'700'000'100'000 - Rules().leeway_ms;
  EXPECT_EQ(ComplaintOfClaims(payload, begin_ms - 1), "It is not valid yet.");
  EXPECT_EQ(ComplaintOfClaims(payload, begin_ms), "");
  EXPECT_THAT(ComplaintOfClaims(Payload({{"nbf", R"("soon")"}})), HasSubstr("not a time"));
}

TEST(Claims, TheTenantIsTidElseOrgIdUnlessSaidOtherwise) {
  EXPECT_EQ(Read(Payload({{"org_id", R"("o")"}})).principal.tenant, "t1");
  EXPECT_EQ(Read(Payload({{"tid", ""}, {"org_id", R"("o")"}})).principal.tenant, "o");
  ClaimRules rules = Rules();
  rules.tenant_claims = {"company"};
  EXPECT_EQ(ReadClaims(Payload({{"company", R"("c")"}}), rules, kReadMs).principal.tenant, "c");
  EXPECT_THROW(ReadClaims(Payload(), rules, kReadMs), TokenError);
}

TEST(Claims, ATokenWithoutATenantOrAPersonIsNobodys) {
  EXPECT_THAT(ComplaintOfClaims(Payload({{"tid", ""}})), HasSubstr("'tid' or 'org_id'"));
  for (const char* claim : {"tid", "sub"})
    for (const std::string& value : {std::string(R"("")"), std::string("1"), std::string("null"),
                                     std::string(R"(["t1"])"), "\"" + std::string(201, 'x') + "\""})
      EXPECT_THAT(ComplaintOfClaims(Payload({{claim, value}, {"org_id", R"("o")"}})),
                  HasSubstr(claim))
          << value;
  EXPECT_THAT(ComplaintOfClaims(Payload({{"sub", ""}})), HasSubstr("sub"));
  EXPECT_NE(ComplaintOfClaims(Payload({{"tid", R"("t\u0000")"}})), "");
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
  EXPECT_THAT(ComplaintOfClaims(Payload({{"scope", "1"}})), HasSubstr("scope"));
}

TEST(Claims, ANameThatStandsTwiceOrSomethingElseThanAnObjectIsRefused) {
  std::string twice = Payload();
  twice.back() = ',';
  for (const std::string& payload :
       {twice + R"("tid":"t2"})", twice + R"("exp":1900000000})", std::string("[]"), std::string(),
        std::string("null"), Payload() + "{}", std::string("{")})
    EXPECT_THAT(ComplaintOfClaims(payload), HasSubstr("each name stands once")) << payload;
}

TEST(Claims, ATenantThatIsAUuidHasOneSpellingAndNilIsNobodys) {
  EXPECT_EQ(Read(Payload({{"tid", R"("ABCDEF00-0000-4000-8000-00000000ABCD")"}})).principal.tenant,
            "abcdef00-0000-4000-8000-00000000abcd");
  EXPECT_EQ(Read(Payload({{"tid", R"("ACME")"}})).principal.tenant, "ACME");
  EXPECT_THAT(ComplaintOfClaims(Payload({{"tid", R"("00000000-0000-0000-0000-000000000000")"}})),
              HasSubstr("nil UUID"));
}

TEST(Claims, ControlCharactersAreNoPartOfAName) {
  for (const char* claim : {"tid", "sub"})
    for (const char* value : {R"("a\nb")", R"("\u001b[2J")", R"("a\u007f")", R"("a\u0085")"})
      EXPECT_THAT(ComplaintOfClaims(Payload({{claim, value}})), HasSubstr("control")) << value;
}

TEST(Claims, AByteOrderMarkIsRefused) {
  EXPECT_NE(ComplaintOfClaims("\xEF\xBB\xBF" + Payload()), "");
}

}  // namespace
}  // namespace tenure::auth
