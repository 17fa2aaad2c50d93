#include "auth/signer.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#include "auth/key_text.hpp"
#include "base/base64.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "http/json_value.hpp"

namespace tenure::auth {
namespace {

using base::EncodeBase64Url;
using base::UserError;

constexpr std::size_t kHalfBytes = 32;  // of P-256: a coordinate, and each half of a signature

std::string Text(const unsigned char* bytes, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return {reinterpret_cast<const char*>(bytes), size};
}

unsigned char* Room(std::string& bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return reinterpret_cast<unsigned char*>(bytes.data());
}

/// A number in big-endian bytes, at least `width` of them.
std::string NumberBytes(const BIGNUM* number, std::size_t width) {
  const std::size_t size = std::max(width, static_cast<std::size_t>(BN_num_bytes(number)));
  std::string bytes(size, '\0');
  TENURE_CHECK(BN_bn2binpad(number, Room(bytes), static_cast<int>(size)) >= 0, "a number is lost");
  return bytes;
}

std::string ParameterOf(const EVP_PKEY* key, const char* name, std::size_t width = 0) {
  BIGNUM* number = nullptr;
  TENURE_CHECK(EVP_PKEY_get_bn_param(key, name, &number) == 1, "a key lacks a number");
  const std::unique_ptr<BIGNUM, Freeing<BN_clear_free>> owned(number);
  return NumberBytes(owned.get(), width);
}

std::string RawOf(const EVP_PKEY* key, int (*get)(const EVP_PKEY*, unsigned char*, std::size_t*)) {
  std::string bytes(32, '\0');
  std::size_t size = bytes.size();
  TENURE_CHECK(get(key, Room(bytes), &size) == 1 && size == bytes.size(), "a key lacks its bytes");
  return bytes;
}

/// A name in the JWK, and OpenSSL's name of the same number.
struct Number {
  const char* member;
  const char* parameter;
  bool is_private;
};
constexpr std::array<Number, 8> kRsaNumbers{{
    {"n", OSSL_PKEY_PARAM_RSA_N, false},
    {"e", OSSL_PKEY_PARAM_RSA_E, false},
    {"d", OSSL_PKEY_PARAM_RSA_D, true},
    {"p", OSSL_PKEY_PARAM_RSA_FACTOR1, true},
    {"q", OSSL_PKEY_PARAM_RSA_FACTOR2, true},
    {"dp", OSSL_PKEY_PARAM_RSA_EXPONENT1, true},
    {"dq", OSSL_PKEY_PARAM_RSA_EXPONENT2, true},
    {"qi", OSSL_PKEY_PARAM_RSA_COEFFICIENT1, true},
}};

std::shared_ptr<EVP_PKEY> FromParameters(const char* type, OSSL_PARAM_BLD* builder) {
  const std::unique_ptr<OSSL_PARAM, Freeing<OSSL_PARAM_free>> params(
      OSSL_PARAM_BLD_to_param(builder));
  const PkeyContextPtr context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  const bool done = params && context && EVP_PKEY_fromdata_init(context.get()) == 1 &&
                    EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_KEYPAIR, params.get()) == 1;
  if (!done) {
    ForgetErrors();
    throw UserError("it is not a private key");
  }
  return PkeyPtr(key);
}

std::string MemberBytes(const http::JsonValue& jwk, std::string_view name) {
  const auto text = jwk.TextOf(name);
  auto bytes = text ? base::DecodeBase64Url(*text) : std::nullopt;
  if (!bytes || bytes->empty())
    throw UserError(fmt::format("it is not a private key: '{}' must be bytes in base64url", name));
  return *std::move(bytes);
}

using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freeing<OSSL_PARAM_BLD_free>>;

std::shared_ptr<EVP_PKEY> PrivateRsa(const http::JsonValue& jwk) {
  const Builder builder(OSSL_PARAM_BLD_new());
  std::vector<BignumPtr> numbers;  // until the parameters are made
  for (const Number& number : kRsaNumbers) {
    const std::string bytes = MemberBytes(jwk, number.member);
    numbers.emplace_back(BN_bin2bn(Bytes(bytes), static_cast<int>(bytes.size()), nullptr));
    OSSL_PARAM_BLD_push_BN(builder.get(), number.parameter, numbers.back().get());
  }
  return FromParameters("RSA", builder.get());
}

std::shared_ptr<EVP_PKEY> PrivateEc(const http::JsonValue& jwk) {
  if (jwk.TextOf("crv") != "P-256") throw UserError("an EC key must be on the curve P-256");
  const Builder builder(OSSL_PARAM_BLD_new());
  const std::string d = MemberBytes(jwk, "d");
  const std::string point = '\x04' + MemberBytes(jwk, "x") + MemberBytes(jwk, "y");
  const BignumPtr secret(BN_bin2bn(Bytes(d), static_cast<int>(d.size()), nullptr));
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, secret.get());
  return FromParameters("EC", builder.get());
}

std::shared_ptr<EVP_PKEY> PrivateEd25519(const http::JsonValue& jwk) {
  const std::string d = MemberBytes(jwk, "d");
  PkeyPtr key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, Bytes(d), d.size()));
  if (key && jwk.TextOf("crv") == "Ed25519") return key;
  ForgetErrors();
  throw UserError("it is not a private key on the curve Ed25519");
}

PkeyPtr NewKey(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kRs256:
      return PkeyPtr(EVP_RSA_gen(3'072));
    case Algorithm::kEs256:
      return PkeyPtr(EVP_EC_gen("P-256"));
    default:
      return PkeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  }
}

/// OpenSSL gives DER; a JWS has r and s as they are.
std::string RawSignature(const std::string& der) {
  const unsigned char* at = Bytes(der);
  const std::unique_ptr<ECDSA_SIG, Freeing<ECDSA_SIG_free>> pair(
      d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  TENURE_CHECK(pair != nullptr, "OpenSSL cannot read its own signature");
  return NumberBytes(ECDSA_SIG_get0_r(pair.get()), kHalfBytes) +
         NumberBytes(ECDSA_SIG_get0_s(pair.get()), kHalfBytes);
}

}  // namespace

Signer Signer::Generate(Algorithm algorithm) {
  Signer signer;
  signer.algorithm_ = algorithm;
  if (algorithm == Algorithm::kHs256) {
    signer.secret_.resize(kMinSecretBytes);
    TENURE_CHECK(RAND_bytes(Room(signer.secret_), kMinSecretBytes) == 1, "no random numbers");
  } else {
    signer.key_ = NewKey(algorithm);
    TENURE_CHECK(signer.key_ != nullptr, "OpenSSL cannot make a key");
  }
  signer.Describe();
  signer.kid_ = signer.Thumbprint();
  return signer;
}

Signer Signer::Parse(std::string_view text) {
  const auto jwk = http::JsonValue::Parse(text);
  if (!jwk) throw UserError("it is not a private JWK");
  const auto type = jwk->TextOf("kty").value_or("");
  Signer signer;
  if (type == "oct") {
    signer.secret_ = MemberBytes(*jwk, "k");
    Key::OfSecret({}, signer.secret_);  // long enough?
  } else if (type == "RSA") {
    signer.key_ = PrivateRsa(*jwk);
  } else if (type == "EC") {
    signer.key_ = PrivateEc(*jwk);
  } else if (type == "OKP") {
    signer.key_ = PrivateEd25519(*jwk);
  } else {
    throw UserError("it is not a private JWK");
  }
  if (signer.key_) signer.algorithm_ = AlgorithmOf(signer.key_.get());
  signer.Describe();
  signer.kid_ = jwk->TextOf("kid").value_or("");
  if (signer.kid_.empty()) signer.kid_ = signer.Thumbprint();
  return signer;
}

void Signer::Describe() {
  const auto add = [&](const char* name, std::string text, bool is_private = false) {
    members_.push_back({name, std::move(text), is_private});
  };
  switch (algorithm_) {
    case Algorithm::kHs256:
      add("kty", "oct");
      add("k", EncodeBase64Url(secret_));
      return;
    case Algorithm::kRs256:
      add("kty", "RSA");
      for (const Number& number : kRsaNumbers)
        add(number.member, EncodeBase64Url(ParameterOf(key_.get(), number.parameter)),
            number.is_private);
      return;
    case Algorithm::kEs256:
      add("kty", "EC");
      add("crv", "P-256");
      add("x", EncodeBase64Url(ParameterOf(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, kHalfBytes)));
      add("y", EncodeBase64Url(ParameterOf(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, kHalfBytes)));
      add("d", EncodeBase64Url(ParameterOf(key_.get(), OSSL_PKEY_PARAM_PRIV_KEY, kHalfBytes)),
          true);
      return;
    case Algorithm::kEdDsa:
      add("kty", "OKP");
      add("crv", "Ed25519");
      add("x", EncodeBase64Url(RawOf(key_.get(), EVP_PKEY_get_raw_public_key)));
      add("d", EncodeBase64Url(RawOf(key_.get(), EVP_PKEY_get_raw_private_key)), true);
      return;
  }
}

/// The members that a public key needs, in the order of their names, and nothing else.
std::string Signer::Thumbprint() const {
  std::vector<Member> required;
  std::copy_if(members_.begin(), members_.end(), std::back_inserter(required),
               [](const Member& member) { return !member.is_private; });
  std::sort(required.begin(), required.end(),
            [](const Member& a, const Member& b) { return a.name < b.name; });
  std::string text;
  base::JsonWriter json(text);
  json.BeginObject();
  for (const Member& member : required) json.Field(member.name, std::string_view(member.text));
  json.EndObject();
  const Digest digest = Sha256(text);
  return EncodeBase64Url(Text(digest.data(), digest.size()));
}

std::string Signer::Jwk(bool with_private) const {
  std::string text;
  base::JsonWriter json(text);
  json.BeginObject();
  for (const Member& member : members_)
    if (with_private || !member.is_private) json.Field(member.name, std::string_view(member.text));
  json.Field("alg", ToText(algorithm_)).Field("use", "sig").Field("kid", std::string_view(kid_));
  json.EndObject();
  return text + "\n";
}

std::string Signer::private_jwk() const { return Jwk(true); }
std::string Signer::public_jwk() const { return Jwk(false); }

std::string Signer::Signature(std::string_view input) const {
  if (!key_) {
    const Digest mac = Hmac(NewHmac(secret_).get(), input);
    return Text(mac.data(), mac.size());
  }
  const DigestContextPtr context(EVP_MD_CTX_new());
  const EVP_MD* const method = algorithm_ == Algorithm::kEdDsa ? nullptr : Sha256Method();
  std::size_t size = 0;
  bool done = context &&
              EVP_DigestSignInit(context.get(), nullptr, method, nullptr, key_.get()) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, Bytes(input), input.size()) == 1;
  std::string signature(size, '\0');
  done = done &&
         EVP_DigestSign(context.get(), Room(signature), &size, Bytes(input), input.size()) == 1;
  TENURE_CHECK(done, "OpenSSL cannot sign");
  signature.resize(size);
  return algorithm_ == Algorithm::kEs256 ? RawSignature(signature) : signature;
}

std::string Signer::Sign(std::string_view claims) const {
  std::string header;
  base::JsonWriter json(header);
  json.BeginObject().Field("alg", ToText(algorithm_)).Field("typ", "JWT");
  json.Field("kid", std::string_view(kid_)).EndObject();
  const std::string input = EncodeBase64Url(header) + "." + EncodeBase64Url(claims);
  return input + "." + EncodeBase64Url(Signature(input));
}

}  // namespace tenure::auth
