#include "client/azure/client_assertion.hpp"

#include <sys/stat.h>

#include <array>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "base/base64.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"
#include "base/uuid.hpp"
#include "client/azure/connection_string.hpp"
#include "client/http/transport.hpp"

namespace tenure::client {
namespace {

constexpr std::size_t kMostCertificateBytes = 256UL * 1024;
constexpr std::int64_t kAssertionLifeS = 600;
constexpr int kLeastRsaBits = 2'048;

struct FreeX509 {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeP12 {
  void operator()(PKCS12* file) const { PKCS12_free(file); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using X509Ptr = std::unique_ptr<X509, FreeX509>;

struct Pair {
  X509Ptr certificate{};
  std::shared_ptr<EVP_PKEY> key{};
};

std::shared_ptr<EVP_PKEY> Owned(EVP_PKEY* key) {
  return key ? std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free) : nullptr;
}

/// For an encrypted key in PEM.
int GivePassword(char* room, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (text.empty() || static_cast<int>(text.size()) > size) return -1;
  text.copy(room, text.size());
  return static_cast<int>(text.size());
}

Pair ReadPem(const std::string& bytes, std::string& password) {
  const auto open = [&] {
    return std::unique_ptr<BIO, FreeBio>(
        BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
  };
  Pair pair;
  pair.certificate.reset(PEM_read_bio_X509(open().get(), nullptr, GivePassword, &password));
  pair.key = Owned(PEM_read_bio_PrivateKey(open().get(), nullptr, GivePassword, &password));
  return pair;
}

Pair ReadPkcs12(const std::string& bytes, const std::string& password) {
  const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::unique_ptr<PKCS12, FreeP12> file(
      d2i_PKCS12(nullptr, &at, static_cast<long>(bytes.size())));
  if (!file) return {};
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  if (PKCS12_parse(file.get(), password.c_str(), &key, &certificate, nullptr) != 1) return {};
  return {X509Ptr(certificate), Owned(key)};
}

std::string SignedPs256(EVP_PKEY* key, std::string_view text) {
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* parameters = nullptr;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t size = 0;
  std::string signature;
  bool done = context != nullptr &&
              EVP_DigestSignInit(context.get(), &parameters, EVP_sha256(), nullptr, key) == 1 &&
              EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1 &&
              EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1 &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size()) == 1;
  if (done) {
    signature.resize(size);
    done = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                          bytes, text.size()) == 1;
    signature.resize(size);
  }
  TENURE_CHECK(done, "OpenSSL cannot sign with an RSA key that it has read");
  return signature;
}

}  // namespace

ClientCertificate ClientCertificate::Load(const std::string& file,
                                          const std::string& password_file) {
  const auto refuse = [&](std::string_view why) {
    ERR_clear_error();
    throw std::invalid_argument(fmt::format("azure.certificate_file {}: {}", file, why));
  };
  std::string bytes;
  try {
    bytes = base::ReadWholeFile(file, kMostCertificateBytes);
  } catch (const base::UserError& error) {
    refuse(error.what());
  }
  struct stat state {};
  if (::stat(file.c_str(), &state) == 0 && (state.st_mode & (S_IROTH | S_IWOTH)) != 0)
    base::LogWarn("leases.secret_readable", "A file with a secret can be read by everybody.",
                  {{"file", file}});
  std::string password;
  if (!password_file.empty())
    password = ReadSecretFile(password_file, "azure.certificate_password_file");
  const bool is_pem = bytes.find("-----BEGIN ") != std::string::npos;
  const Pair pair = is_pem ? ReadPem(bytes, password) : ReadPkcs12(bytes, password);
  if (!pair.certificate || !pair.key)
    refuse(is_pem ? "it holds no certificate and private key in PEM that can be read; is its "
                    "password right?"
                  : "it is no PKCS 12 file that can be read; is its password right?");
  if (X509_check_private_key(pair.certificate.get(), pair.key.get()) != 1)
    refuse("its key is another certificate's");
  if (EVP_PKEY_get_base_id(pair.key.get()) != EVP_PKEY_RSA ||
      EVP_PKEY_get_bits(pair.key.get()) < kLeastRsaBits)
    refuse("its key must be RSA of at least 2048 bits");
  ERR_clear_error();

  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  TENURE_CHECK(X509_digest(pair.certificate.get(), EVP_sha256(), digest.data(), &size) == 1,
               "OpenSSL cannot hash a certificate that it has read");
  ClientCertificate certificate;
  certificate.key_ = pair.key;
  certificate.thumbprint_ =
      base::EncodeBase64Url({reinterpret_cast<const char*>(digest.data()), size});
  return certificate;
}

std::string ClientCertificate::Assertion(std::string_view client_id,
                                         std::string_view endpoint) const {
  const std::string header = JsonBody([&](base::JsonWriter& json) {
    json.Field("alg", "PS256").Field("typ", "JWT").Field("x5t#S256", std::string_view(thumbprint_));
  });
  const std::int64_t now_s = base::SystemClock().WallMs() / 1'000;
  const std::string claims = JsonBody([&](base::JsonWriter& json) {
    json.Field("aud", endpoint)
        .Field("iss", client_id)
        .Field("sub", client_id)
        .Field("jti", std::string_view(base::RandomHex(16)))
        .Field("nbf", now_s)
        .Field("iat", now_s)
        .Field("exp", now_s + kAssertionLifeS);
  });
  const std::string text = base::EncodeBase64Url(header) + "." + base::EncodeBase64Url(claims);
  return text + "." + base::EncodeBase64Url(SignedPs256(key_.get(), text));
}

}  // namespace tenure::client
