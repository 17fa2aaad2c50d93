#include "auth/key_text.hpp"

#include <string>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "http/json_value.hpp"

namespace tenure::auth {
namespace {

using base::UserError;
using http::JsonValue;

constexpr std::size_t kCoordinateBytes = 32;  // of P-256

using BioPtr = std::unique_ptr<BIO, Freeing<BIO_free>>;
using ParamBuilderPtr = std::unique_ptr<OSSL_PARAM_BLD, Freeing<OSSL_PARAM_BLD_free>>;
using ParamsPtr = std::unique_ptr<OSSL_PARAM, Freeing<OSSL_PARAM_free>>;

/// The bytes of a member in base64url; refused when it is anything else.
std::string BytesOf(const JsonValue& jwk, std::string_view name) {
  const auto text = jwk.TextOf(name);
  auto bytes = text ? base::DecodeBase64Url(*text) : std::nullopt;
  if (!bytes || bytes->empty())
    throw UserError(fmt::format("'{}' of a key must be bytes in base64url", name));
  return *std::move(bytes);
}

/// Makes a public key of what `fill` puts into the parameters, and has OpenSSL check that it is one
/// (a point of its curve, for one).
template <class Fill>
PkeyPtr MakePublic(const char* type, const Fill& fill) {
  const ParamBuilderPtr builder(OSSL_PARAM_BLD_new());
  TENURE_CHECK(builder && fill(builder.get()), "no memory for a key");
  const ParamsPtr params(OSSL_PARAM_BLD_to_param(builder.get()));
  const PkeyContextPtr maker(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* made = nullptr;
  const bool done = params && maker && EVP_PKEY_fromdata_init(maker.get()) == 1 &&
                    EVP_PKEY_fromdata(maker.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) == 1;
  PkeyPtr key(made);
  const PkeyContextPtr checker(done ? EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr)
                                    : nullptr);
  if (!checker || EVP_PKEY_public_check(checker.get()) != 1) {
    ForgetErrors();
    throw UserError(fmt::format("a key of type {} is not valid", type));
  }
  return key;
}

PkeyPtr PublicRsa(const JsonValue& jwk) {
  const std::string modulus = BytesOf(jwk, "n");
  const std::string exponent = BytesOf(jwk, "e");
  // Before any arithmetic is done with it.
  if (modulus.size() > kMaxRsaBits / 8 || exponent.size() > 8)
    throw UserError(fmt::format("an RSA key must not have more than {} bits", kMaxRsaBits));
  const auto number = [](const std::string& bytes) {
    return BignumPtr(BN_bin2bn(Bytes(bytes), static_cast<int>(bytes.size()), nullptr));
  };
  const BignumPtr n = number(modulus);
  const BignumPtr e = number(exponent);
  return MakePublic("RSA", [&](OSSL_PARAM_BLD* builder) {
    return OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n.get()) == 1 &&
           OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e.get()) == 1;
  });
}

PkeyPtr PublicEc(const JsonValue& jwk) {
  if (jwk.TextOf("crv") != "P-256") throw UserError("an EC key must be on the curve P-256");
  const std::string x = BytesOf(jwk, "x");
  const std::string y = BytesOf(jwk, "y");
  if (x.size() != kCoordinateBytes || y.size() != kCoordinateBytes)
    throw UserError("'x' and 'y' of an EC key must have 32 bytes each");
  const std::string point = '\x04' + x + y;  // uncompressed
  return MakePublic("EC", [&](OSSL_PARAM_BLD* builder) {
    return OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) ==
               1 &&
           OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                            point.size()) == 1;
  });
}

PkeyPtr PublicEd25519(const JsonValue& jwk) {
  if (jwk.TextOf("crv") != "Ed25519")
    throw UserError("a key of type OKP must be on the curve Ed25519");
  const std::string x = BytesOf(jwk, "x");
  PkeyPtr key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Bytes(x), x.size()));
  if (!key) {
    ForgetErrors();
    throw UserError("'x' of an Ed25519 key must have 32 bytes");
  }
  return key;
}

std::string KidOf(const JsonValue& jwk) {
  const JsonValue* const kid = jwk.Find("kid");
  if (!kid) return {};
  const auto text = kid->Text();
  if (!text || text->empty() || text->size() > kMaxKidBytes)
    throw UserError(fmt::format("'kid' of a key must be a text of 1 to {} bytes", kMaxKidBytes));
  return std::string(*text);
}

/// What the key says about itself besides its numbers.
void CheckUse(const JsonValue& jwk, const Key& key) {
  const JsonValue* const use = jwk.Find("use");
  if (use && use->Text() != "sig") throw UserError("a key's 'use' must be sig");
  const JsonValue* const algorithm = jwk.Find("alg");
  if (algorithm && algorithm->Text() != ToText(key.algorithm()))
    throw UserError(fmt::format("'alg' of this type of key must be {}", ToText(key.algorithm())));
}

Key FromJwk(const JsonValue& jwk) {
  const auto type = jwk.TextOf("kty").value_or("");
  const auto make = [&] {
    if (type == "oct") return Key::OfSecret(KidOf(jwk), BytesOf(jwk, "k"));
    if (jwk.Find("d"))
      throw UserError("a private key stands there; give the server its public half only");
    if (type == "RSA") return Key::OfPublic(KidOf(jwk), PublicRsa(jwk));
    if (type == "EC") return Key::OfPublic(KidOf(jwk), PublicEc(jwk));
    if (type == "OKP") return Key::OfPublic(KidOf(jwk), PublicEd25519(jwk));
    throw UserError("'kty' of a key must be RSA, EC, OKP or oct");
  };
  Key key = make();
  CheckUse(jwk, key);
  return key;
}

/// The elements of a JWKS; null when it is none.
const std::vector<JsonValue>* ElementsOf(const JsonValue& set) {
  const JsonValue* const keys = set.Find("keys");
  return keys ? keys->Elements() : nullptr;
}

void CheckSize(std::size_t keys) {
  if (keys == 0) throw UserError("there is no key in it");
  if (keys > kMaxKeys) throw UserError(fmt::format("there are more than {} keys", kMaxKeys));
}

std::vector<Key> FromPem(std::string_view text) {
  if (text.find("PRIVATE KEY-----") != std::string_view::npos)
    throw UserError("a private key stands there; give the server its public half only");
  const BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  TENURE_CHECK(bio != nullptr, "no memory for a key");
  std::vector<Key> keys;
  while (keys.size() <= kMaxKeys) {
    PkeyPtr key(PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr));
    if (!key) break;
    keys.push_back(Key::OfPublic({}, std::move(key)));
  }
  ForgetErrors();  // of the reading beyond the last
  std::size_t announced = 0;
  for (std::size_t at = text.find("-----BEGIN "); at != std::string_view::npos;
       at = text.find("-----BEGIN ", at + 1))
    ++announced;
  if (announced != keys.size()) throw UserError("something in it is not a public key in PEM");
  return keys;
}

}  // namespace

std::vector<Key> ParseKeyFile(std::string_view text) {
  if (text.size() > kMaxKeyTextBytes) throw UserError("it is larger than 256 KiB");
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  std::vector<Key> keys;
  if (text.substr(std::min(first, text.size())).starts_with('{')) {
    const auto json = JsonValue::Parse(text);
    if (!json) throw UserError("it is not JSON, or has a name twice");
    if (const auto* const elements = ElementsOf(*json))
      for (const JsonValue& jwk : *elements) keys.push_back(FromJwk(jwk));
    else
      keys.push_back(FromJwk(*json));
  } else if (text.find("-----BEGIN ") != std::string_view::npos) {
    keys = FromPem(text);
  } else {
    throw UserError("it is neither a public key in PEM nor a JWK or JWKS");
  }
  CheckSize(keys.size());
  return keys;
}

std::vector<Key> ParsePublishedKeys(std::string_view text) {
  if (text.size() > kMaxKeyTextBytes) throw UserError("it is larger than 256 KiB");
  const auto json = JsonValue::Parse(text);
  const auto* const elements = json ? ElementsOf(*json) : nullptr;
  if (!elements) throw UserError("it is not a JWKS");
  CheckSize(elements->size());
  std::vector<Key> keys;
  for (const JsonValue& jwk : *elements) {
    if (jwk.TextOf("kty") == "oct") continue;
    try {
      keys.push_back(FromJwk(jwk));
    } catch (const UserError&) {
      continue;  // for another use, or a type that is not taken
    }
  }
  if (keys.empty()) throw UserError("none of its keys can be used");
  return keys;
}

}  // namespace tenure::auth
