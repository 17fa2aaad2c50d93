#include "support/certificate.hpp"

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace tenure::support {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};

void Require(bool done) {
  if (!done) throw std::runtime_error("OpenSSL could not make a certificate");
}

void SetName(X509_NAME* name, const std::string& text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's idea of bytes
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.c_str());
  Require(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, bytes, -1, -1, 0) == 1);
}

void Extend(X509* certificate, int kind, const std::string& value) {
  const std::unique_ptr<X509_EXTENSION, Free> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  Require(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

/// Without names and signature.
X509* NewCertificate(EVP_PKEY* key, std::int64_t serial, const CertificateOptions& options) {
  X509* const certificate = X509_new();
  Require(certificate != nullptr);
  X509_set_version(certificate, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), static_cast<long>(serial));
  X509_gmtime_adj(X509_getm_notBefore(certificate), static_cast<long>(options.begins_in_s));
  X509_gmtime_adj(X509_getm_notAfter(certificate), static_cast<long>(options.ends_in_s));
  X509_set_pubkey(certificate, key);
  return certificate;
}

template <class Write>
std::string Pem(const Write& write) {
  const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
  Require(bio && write(bio.get()) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

}  // namespace

void Authority::Deleter::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }
void Authority::Deleter::operator()(x509_st* certificate) const { X509_free(certificate); }

Authority::Authority()
    : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")),
      own_(NewCertificate(key_.get(), serial_, {})) {
  static std::atomic<int> number = 0;  // two authorities of one name would be one to clients
  SetName(X509_get_subject_name(own_.get()), "tenure test authority " + std::to_string(++number));
  Require(X509_set_issuer_name(own_.get(), X509_get_subject_name(own_.get())) == 1);
  Extend(own_.get(), NID_basic_constraints, "critical,CA:TRUE");
  Extend(own_.get(), NID_key_usage, "critical,keyCertSign");
  Require(X509_sign(own_.get(), key_.get(), EVP_sha256()) > 0);
  pem_ = Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, own_.get()); });
}

Authority::~Authority() = default;

Certificate Authority::Issue(const CertificateOptions& options) {
  const std::unique_ptr<EVP_PKEY, Deleter> key(
      options.rsa_bits > 0
          ? EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", static_cast<std::size_t>(options.rsa_bits))
          : EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  Require(key != nullptr);
  const std::unique_ptr<X509, Deleter> made(NewCertificate(key.get(), ++serial_, options));
  SetName(X509_get_subject_name(made.get()), "tenure test");
  Require(X509_set_issuer_name(made.get(), X509_get_subject_name(own_.get())) == 1);
  Extend(made.get(), NID_subject_alt_name, options.names);
  Require(X509_sign(made.get(), key_.get(), EVP_sha256()) > 0);
  return {.certificate = Pem([&](BIO* bio) { return PEM_write_bio_X509(bio, made.get()); }),
          .key = Pem([&](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

void ReplaceFile(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path draft = path.string() + ".new";
  std::ofstream(draft) << text;
  std::filesystem::rename(draft, path);
}

}  // namespace tenure::support
