#include "webhooks/rules/signature.hpp"

#include <gtest/gtest.h>

namespace tenure::webhooks::rules {
namespace {

const std::vector<std::string> kSecrets = {"It's a Secret to Everybody"};
constexpr std::string_view kBody = "Hello, World!";
constexpr std::string_view kGood =
    "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

bool IsGood(std::string_view body, std::vector<std::string_view> given,
            const std::vector<std::string>& secrets = kSecrets) {
  return IsSigned(body, given, secrets);
}

TEST(Signatures, GitHubsOwnExampleIsSigned) {
  EXPECT_EQ(SignatureOf(kBody, kSecrets.front()), kGood);
  EXPECT_TRUE(IsGood(kBody, {kGood}));
}

TEST(Signatures, EveryActiveSecretCounts) {
  EXPECT_TRUE(IsGood(kBody, {kGood}, {"new", kSecrets.front(), "older"}));
  EXPECT_TRUE(IsGood(kBody, {kGood}, {kSecrets.front(), "new"}));
  EXPECT_FALSE(IsGood(kBody, {kGood}, {"new", "older"}));
  EXPECT_FALSE(IsGood(kBody, {kGood}, {}));
}

TEST(Signatures, WhatIsMissingMalformedRepeatedOrWrongIsNone) {
  const std::string good(kGood);
  const std::string upper_scheme = "SHA256=" + good.substr(7);
  const std::string sha1 = "sha1=" + good.substr(7, 40);
  std::string wrong = good;
  wrong.back() = '8';
  std::string no_hex = good;
  no_hex[20] = 'g';
  EXPECT_FALSE(IsGood(kBody, {}));
  EXPECT_FALSE(IsGood(kBody, {kGood, kGood}));
  for (const std::string& given : {wrong, no_hex, sha1, upper_scheme, good.substr(7), good + "0",
                                   good.substr(0, 70), std::string(), " " + good, good + " "})
    EXPECT_FALSE(IsGood(kBody, {given})) << given;
  EXPECT_FALSE(IsGood("Hello, World", {kGood})) << "other bytes";
}

TEST(Signatures, AMalformedOneIsNotTheSignatureOfZeros) {
  // What is compared in its place must not count, whatever the digest is.
  const std::string zeros = "sha256=" + std::string(64, '0');
  EXPECT_FALSE(IsGood(kBody, {zeros}));
  EXPECT_FALSE(IsGood(kBody, {"x"}));
}

}  // namespace
}  // namespace tenure::webhooks::rules
