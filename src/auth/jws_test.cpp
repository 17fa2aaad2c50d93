#include "auth/jws.hpp"

#include <gtest/gtest.h>

#include "auth/key_text.hpp"
#include "auth/signer.hpp"
#include "base/base64.hpp"

namespace tenure::auth {
namespace {

using base::EncodeBase64Url;

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

Verdict VerdictOn(const std::string& token, const KeySet& keys) {
  return Verify(ParseJws(token), keys);
}

TEST(Jws, TheStandardsOwnExamplesAreVerified) {
  for (const Vector& vector : Vectors())
    EXPECT_EQ(VerdictOn(vector.token, KeysOf(vector.jwk)), Verdict::kGood) << vector.name;
}

TEST(Jws, AnyChangedByteOfTheSignedPartOrTheSignatureIsSeen) {
  for (const Vector& vector : Vectors()) {
    const KeySet keys = KeysOf(vector.jwk);
    const std::size_t dot = vector.token.find('.');
    for (const std::size_t at : {dot + 5, vector.token.rfind('.') + 1, vector.token.size() - 9}) {
      std::string token = vector.token;
      token[at] = token[at] == 'A' ? 'B' : 'A';
      EXPECT_EQ(VerdictOn(token, keys), Verdict::kBad) << vector.name << " at " << at;
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
        good = VerdictOn(other, KeysOf(vector.jwk)) == Verdict::kGood;
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
    EXPECT_EQ(VerdictOn(token, keys), Verdict::kNoKey);
  }
}

TEST(Jws, AKeyIdSelectsAmongOurKeysAndDoesNothingElse) {
  const Signer ours = Signer::Generate(Algorithm::kEdDsa);
  const KeySet keys = KeysOf(ours.public_jwk());
  for (const char* kid : {"../../../../dev/null", "' or '1'='1", "", "key|cat /etc/passwd"})
    EXPECT_EQ(
        VerdictOn(Forged(R"({"alg":"EdDSA","kid":")" + std::string(kid) + R"("})", "x"), keys),
        Verdict::kNoKey)
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
    EXPECT_EQ(VerdictOn(EncodeBase64Url(R"({"alg":"ES256",)" + extra + "}") + "." +
                            EncodeBase64Url("{}") + "." + signature,
                        keys),
              Verdict::kBad)
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
    EXPECT_EQ(VerdictOn(Forged(header, signature), keys), Verdict::kBad);
}

TEST(Jws, ManyKeysWithoutANameAreNotAllTried) {
  KeySet keys;
  std::string last;
  for (std::size_t i = 0; i <= kMaxTried; ++i) {
    const Signer signer = Signer::Generate(Algorithm::kEdDsa);
    keys.keys.push_back(ParseKeyFile(signer.public_jwk()).front());
    last = signer.Sign("{}");
  }
  EXPECT_EQ(VerdictOn(last, keys), Verdict::kGood) << "it says which key it is";
  EXPECT_EQ(VerdictOn(Forged(R"({"alg":"EdDSA"})", std::string(64, 'x')), keys), Verdict::kNoKey);
}

}  // namespace
}  // namespace tenure::auth
