#include "auth/key_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "auth/signer.hpp"
#include "base/error.hpp"

namespace tenure::auth {
namespace {

using testing::HasSubstr;

// Made by `openssl genpkey` and `openssl pkey -pubout`.
constexpr std::string_view kEd25519Pem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";

/// What is said against a file; empty when nothing is.
std::string Complaint(std::string_view text) {
  try {
    ParseKeyFile(text);
    return {};
  } catch (const base::UserError& error) {
    return error.what();
  }
}

std::string SetOf(std::initializer_list<std::string> keys) {
  std::string set = R"({"keys":[)";
  for (const std::string& key : keys) set += (set.ends_with('[') ? "" : ",") + key;
  return set + "]}";
}

TEST(KeyFile, APemKeyHasTheAlgorithmOfItsType) {
  const auto keys = ParseKeyFile(kEd25519Pem);
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].algorithm(), Algorithm::kEdDsa);
  EXPECT_EQ(keys[0].kid(), "");
  EXPECT_EQ(ParseKeyFile(std::string(kEd25519Pem) + std::string(kEd25519Pem)).size(), 2U);
}

TEST(KeyFile, AJwkOrASetOfThem) {
  const Signer ec = Signer::Generate(Algorithm::kEs256);
  const Signer secret = Signer::Generate(Algorithm::kHs256);
  EXPECT_EQ(ParseKeyFile(ec.public_jwk())[0].algorithm(), Algorithm::kEs256);
  EXPECT_EQ(ParseKeyFile(SetOf({ec.public_jwk(), secret.public_jwk()})).size(), 2U);
}

TEST(KeyFile, APrivateKeyIsRefused) {
  for (const Algorithm algorithm : {Algorithm::kRs256, Algorithm::kEs256, Algorithm::kEdDsa})
    EXPECT_THAT(Complaint(Signer::Generate(algorithm).private_jwk()), HasSubstr("public half"));
  EXPECT_THAT(Complaint("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
              HasSubstr("public half"));
  EXPECT_THAT(Complaint("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"),
              HasSubstr("public half"));
}

TEST(KeyFile, WhatIsTooSmallOrOnAnotherCurveIsRefused) {
  EXPECT_THAT(Complaint(R"({"kty":"oct","k":"c2hvcnQ"})"), HasSubstr("32 bytes"));
  EXPECT_THAT(Complaint(R"({"kty":"RSA","e":"AQAB","n":")" + std::string(171, 'v') + R"("})"),
              testing::Not(""));
  EXPECT_THAT(Complaint(R"({"kty":"RSA","e":"AQAB","n":")" + std::string(2'048, 'v') + R"("})"),
              HasSubstr("8192 bits"));
  EXPECT_THAT(Complaint(R"({"kty":"EC","crv":"P-384","x":"AA","y":"AA"})"), HasSubstr("P-256"));
  EXPECT_THAT(Complaint(R"({"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"})"), HasSubstr("P-256"));
  EXPECT_THAT(Complaint(R"({"kty":"OKP","crv":"X25519","x":"AA"})"), HasSubstr("Ed25519"));
  // A point that is not on the curve.
  EXPECT_THAT(
      Complaint(R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
                R"("y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"})"),
      HasSubstr("not valid"));
}

TEST(KeyFile, AKeyForAnotherUseOrAlgorithmIsRefused) {
  std::string jwk = Signer::Generate(Algorithm::kEdDsa).public_jwk();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = jwk;
    return changed.replace(changed.find(from), from.size(), to);
  };
  EXPECT_EQ(Complaint(jwk), "");
  EXPECT_THAT(Complaint(with(R"("use":"sig")", R"("use":"enc")")), HasSubstr("sig"));
  EXPECT_THAT(Complaint(with(R"("alg":"EdDSA")", R"("alg":"HS256")")), HasSubstr("EdDSA"));
  EXPECT_THAT(Complaint(with(R"("kid":")", R"("kid":1,"x":")")), HasSubstr("twice"));
}

TEST(KeyFile, WhatIsNoKeyIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("a secret of more than thirty-two bytes, but of what?"),
        std::string("{}"), SetOf({}), SetOf({"{}"}), std::string(R"({"keys":1})"),
        std::string("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        std::string("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"),
        std::string(kEd25519Pem) + "-----BEGIN PUBLIC KEY-----\nAA", std::string(300'000, '{')})
    EXPECT_NE(Complaint(text), "") << text.substr(0, 80);
}

TEST(PublishedKeys, WhatCannotBeUsedIsPassedOverAndSecretsAre) {
  const Signer good = Signer::Generate(Algorithm::kEs256);
  const auto keys = ParsePublishedKeys(
      SetOf({Signer::Generate(Algorithm::kHs256).public_jwk(), good.public_jwk(),
             R"({"kty":"EC","crv":"P-521","x":"AA","y":"AA"})", R"({"kty":"unheard of"})", "1",
             R"({"kty":"RSA","use":"enc","e":"AQAB","n":"AA"})"}));
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].kid(), good.kid());
}

TEST(PublishedKeys, ASetWithoutAKeyOrWithTooManyIsNone) {
  std::string many = R"({"keys":[{})";
  for (std::size_t i = 0; i < kMaxKeys; ++i) many += ",{}";
  for (const std::string& text :
       {std::string(), std::string("<html>"), std::string("{}"), std::string(R"({"keys":[]})"),
        SetOf({Signer::Generate(Algorithm::kHs256).public_jwk()}), many + "]}",
        Signer::Generate(Algorithm::kEdDsa).public_jwk()})
    EXPECT_THROW(ParsePublishedKeys(text), base::UserError) << text.substr(0, 80);
}

}  // namespace
}  // namespace tenure::auth
