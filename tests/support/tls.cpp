#include "support/tls.hpp"

#include <atomic>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace tenure::support {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
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

[[noreturn]] void Fail(const std::string& what) {
  char words[256];
  ERR_error_string_n(ERR_get_error(), words, sizeof words);
  ERR_clear_error();
  throw std::runtime_error(what + ": " + words);
}

void Trust(SSL_CTX* context, const std::string& pem) {
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const std::unique_ptr<X509, Free> authority(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!authority || X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1)
    Fail("no certificate");
}

std::unique_ptr<SSL_CTX, Free> NewContext(const TlsClientOptions& options) {
  std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  if (!options.authority.empty()) Trust(raw, options.authority);
  if (options.version != 0) {
    // What OpenSSL itself would not speak any more shall be refused by the server.
    SSL_CTX_set_security_level(raw, 0);
    SSL_CTX_set_min_proto_version(raw, options.version);
    SSL_CTX_set_max_proto_version(raw, options.version);
  }
  return context;
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

void TlsClient::Deleter::operator()(ssl_st* session) const { SSL_free(session); }

TlsClient::TlsClient(int socket, const TlsClientOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto context = NewContext(options);
  session_.reset(SSL_new(context.get()));
  SSL* const raw = session_.get();
  if (raw == nullptr || SSL_set_fd(raw, socket) != 1) Fail("no session");
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): OpenSSL's idea of bytes
  const auto* offered = reinterpret_cast<const unsigned char*>(options.protocols.data());
  SSL_set_alpn_protos(raw, offered, static_cast<unsigned int>(options.protocols.size()));
  X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(raw), "127.0.0.1");
  ERR_clear_error();
  if (SSL_connect(raw) != 1) Fail("no handshake");
}

TlsClient::~TlsClient() = default;
TlsClient::TlsClient(TlsClient&&) noexcept = default;

bool TlsClient::Write(std::string_view bytes) {
  std::size_t written = 0;
  ERR_clear_error();
  return SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &written) == 1;
}

std::optional<std::size_t> TlsClient::Read(char* bytes, std::size_t size) {
  std::size_t read = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(session_.get(), bytes, size, &read);
  if (result == 1) return read;
  const int error = SSL_get_error(session_.get(), result);
  ERR_clear_error();
  if (error == SSL_ERROR_WANT_READ) return std::nullopt;
  return 0;
}

void TlsClient::SayGoodbye() { SSL_shutdown(session_.get()); }

void TlsClient::UpdateKeys() {
  if (SSL_key_update(session_.get(), SSL_KEY_UPDATE_REQUESTED) != 1 ||
      SSL_do_handshake(session_.get()) != 1)
    Fail("no update of the keys");
}

std::string TlsClient::Version() const { return SSL_get_version(session_.get()); }

std::string TlsClient::Protocol() const {
  const unsigned char* chosen = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(session_.get(), &chosen, &size);
  return {chosen, chosen + size};
}

std::int64_t TlsClient::PeerSerial() const {
  const std::unique_ptr<X509, Free> certificate(SSL_get1_peer_certificate(session_.get()));
  return certificate ? ASN1_INTEGER_get(X509_get0_serialNumber(certificate.get())) : 0;
}

bool TlsClient::EndedWell() const {
  return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

}  // namespace tenure::support
