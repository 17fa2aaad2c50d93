#include "support/tls_client.hpp"

#include <csignal>
#include <stdexcept>
#include <utility>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace tenure::support {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

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
