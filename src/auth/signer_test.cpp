#include "auth/signer.hpp"

#include <gtest/gtest.h>

#include "auth/key_text.hpp"
#include "auth/token.hpp"
#include "base/error.hpp"

namespace tenure::auth {
namespace {

constexpr Algorithm kAll[] = {Algorithm::kHs256, Algorithm::kRs256, Algorithm::kEs256,
                              Algorithm::kEdDsa};

TEST(Signer, WhatItSignsIsVerifiedByItsPublicHalf) {
  for (const Algorithm algorithm : kAll) {
    const Signer signer = Signer::Generate(algorithm);
    const KeySet keys{.keys = ParseKeyFile(signer.public_jwk())};
    EXPECT_EQ(keys.keys.front().kid(), signer.kid());
    const std::string token = signer.Sign(R"({"sub":"me"})");
    const Jws jws = ParseJws(token);
    EXPECT_EQ(Verify(jws, keys), SignatureCheck::kGood) << ToText(algorithm);
    EXPECT_EQ(jws.payload, R"({"sub":"me"})");
    EXPECT_EQ(jws.kid, signer.kid());
    EXPECT_EQ(jws.algorithm, algorithm);
  }
}

TEST(Signer, ItsTextIsReadBack) {
  for (const Algorithm algorithm : kAll) {
    const Signer signer = Signer::Generate(algorithm);
    const Signer read = Signer::Parse(signer.private_jwk());
    EXPECT_EQ(read.private_jwk(), signer.private_jwk()) << ToText(algorithm);
    const std::string token = read.Sign("{}");
    EXPECT_EQ(Verify(ParseJws(token), {.keys = ParseKeyFile(signer.public_jwk())}),
              SignatureCheck::kGood);
  }
}

TEST(Signer, AKeyIsNamedByItsThumbprint) {
  const Signer signer = Signer::Parse(
      R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",)"
      R"("x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})");
  EXPECT_EQ(signer.kid(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k") << "RFC 8037 A.3";
}

TEST(Signer, WhatIsNoPrivateKeySignsNothing) {
  const Signer signer = Signer::Generate(Algorithm::kEdDsa);
  for (const std::string& text :
       {std::string(), std::string("{}"), signer.public_jwk(), std::string("-----BEGIN"),
        std::string(R"({"kty":"oct","k":"c2hvcnQ"})"),
        std::string(R"({"kty":"EC","crv":"P-384","d":"AA","x":"AA","y":"AA"})")})
    EXPECT_THROW(Signer::Parse(text), base::UserError) << text;
}

}  // namespace
}  // namespace tenure::auth
