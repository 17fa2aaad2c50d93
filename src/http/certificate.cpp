#include "http/certificate.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/read_file.hpp"
#include "base/time_text.hpp"

namespace tenure::http {
namespace {

using base::UserError;

constexpr std::size_t kMaxFileBytes = 256 * 1024;
constexpr std::size_t kMaxChain = 16;

struct PemDeleter {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using BioPtr = std::unique_ptr<BIO, PemDeleter>;
using X509Ptr = std::unique_ptr<X509, PemDeleter>;
using KeyPtr = std::unique_ptr<EVP_PKEY, PemDeleter>;

/// There is never one to give; without this OpenSSL would ask at the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

BioPtr Over(const std::string& text) {
  BioPtr bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  if (!bio) throw std::bad_alloc();
  return bio;
}

std::string ReadFile(const std::string& setting, const std::string& path) {
  try {
    return base::ReadWholeFile(path, kMaxFileBytes);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {} {}", setting, path, error.what()));
  }
}

/// All certificates of a file: the server's own, then the others.
std::vector<X509Ptr> ParseCertificates(const std::string& path, const std::string& text) {
  const BioPtr bio = Over(text);
  std::vector<X509Ptr> chain;
  while (X509Ptr next{PEM_read_bio_X509(bio.get(), nullptr, &NoPassphrase, nullptr)})
    chain.push_back(std::move(next));
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (chain.empty() || !at_end)
    throw UserError(
        fmt::format("tls.certificate: {} {}: it takes certificates in PEM (-----BEGIN "
                    "CERTIFICATE-----), the server's own first",
                    path, at_end ? "holds none" : "is damaged"));
  if (chain.size() > kMaxChain)
    throw UserError(
        fmt::format("tls.certificate: {} holds more than {} certificates: it takes the "
                    "server's own and those that lead to its authority",
                    path, kMaxChain));
  return chain;
}

KeyPtr ParseKey(const std::string& path, const std::string& text) {
  const BioPtr bio = Over(text);
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &NoPassphrase, nullptr));
  ERR_clear_error();
  if (!key)
    throw UserError(
        fmt::format("tls.key: {} holds no key that can be read: it takes a private key "
                    "in PEM (-----BEGIN PRIVATE KEY-----) without a passphrase",
                    path));
  return key;
}

std::int64_t UnixSeconds(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) throw UserError("tls.certificate: its dates are damaged");
  return timegm(&parts);
}

std::string DateText(std::int64_t unix_s) {
  return base::UtcText(std::max<std::int64_t>(unix_s, 0) * 1'000);
}

/// The one protocol that is spoken here. A client that wants only others is told so.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                   const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr unsigned char kSpoken[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  const int result = SSL_select_next_proto(&found, chosen_size, kSpoken, sizeof kSpoken - 1,
                                           offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Everything but the certificate. The modes are what `Stream` counts on: a write may be taken in
/// part and go on from another place, and no call goes on reading for as long as a client sends
/// records that carry nothing.
std::shared_ptr<SSL_CTX> NewContext() {
  std::unique_ptr<SSL_CTX, TlsDeleter> context(SSL_CTX_new(TLS_server_method()));
  if (!context) throw std::bad_alloc();
  SSL_CTX* const raw = context.get();
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                               SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_clear_mode(raw, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);  // the client keeps the ticket
  SSL_CTX_set_alpn_select_cb(raw, &ChooseProtocol, nullptr);
  TENURE_CHECK(SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) == 1 &&
                   SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1,
               "OpenSSL does not know TLS 1.2");
  return context;
}

}  // namespace

CertificateKeeper::CertificateKeeper(CertificateFiles files, const base::Clock& clock,
                                     telemetry::Registry& metrics)
    : clock_(clock),
      ends_(metrics.GetGauge("tenure_tls_certificate_end_timestamp_seconds",
                             "When the certificate that is served ends, in unix time.")),
      files_(std::move(files)) {
  Texts texts = Read(files_);
  read_boot_ms_ = clock_.BootMs();
  Served served = Make(files_, texts);
  Publish(std::move(served), std::move(texts));
}

CertificateKeeper::~CertificateKeeper() { Stop(); }

void CertificateKeeper::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void CertificateKeeper::Stop() {
  if (!thread_.joinable()) return;
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

TlsSession CertificateKeeper::NewSession(int socket) const {
  std::shared_ptr<SSL_CTX> context;
  {
    const base::Lock lock(mutex_);
    context = published_;
  }
  TlsSession session(SSL_new(context.get()));  // holds the context from here on
  if (!session || SSL_set_fd(session.get(), socket) != 1) throw std::bad_alloc();
  SSL_set_accept_state(session.get());
  return session;
}

void CertificateKeeper::Use(CertificateFiles files) {
  const base::Lock lock(mutex_);
  wanted_ = std::move(files);
  changed_.notify_all();
}

/// The clock decides what is due; the wait only has to end in time.
void CertificateKeeper::Loop() {
  pthread_setname_np(pthread_self(), "certificate");
  base::Lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    Step();
    const std::int64_t pause_ms =
        std::max<std::int64_t>(read_boot_ms_ + kFilesMs - clock_.BootMs(), 1);
    lock.lock();
    changed_.wait_for(lock.native(), std::chrono::milliseconds(pause_ms), [&] {
      mutex_.AssertHeld();
      return stopping_ || wanted_;
    });
  }
}

void CertificateKeeper::Step() {
  std::optional<CertificateFiles> wanted;
  {
    const base::Lock lock(mutex_);
    wanted = std::exchange(wanted_, std::nullopt);
  }
  if (wanted) {
    files_ = *std::move(wanted);
    trouble_.clear();  // whoever asked wants to hear
  } else if (clock_.BootMs() - read_boot_ms_ < kFilesMs) {
    return;
  }
  Refresh();
}

CertificateKeeper::Texts CertificateKeeper::Read(const CertificateFiles& files) {
  return {.certificate = ReadFile("tls.certificate", files.certificate),
          .key = ReadFile("tls.key", files.key)};
}

CertificateKeeper::Served CertificateKeeper::Make(const CertificateFiles& files,
                                                  const Texts& texts) {
  const std::vector<X509Ptr> chain = ParseCertificates(files.certificate, texts.certificate);
  X509* const own = chain.front().get();
  const KeyPtr key = ParseKey(files.key, texts.key);
  if (X509_check_private_key(own, key.get()) != 1) {
    ERR_clear_error();
    throw UserError(fmt::format("tls.key: {} is not the key of the certificate in {}", files.key,
                                files.certificate));
  }
  std::shared_ptr<SSL_CTX> context = NewContext();
  bool taken = SSL_CTX_use_certificate(context.get(), own) == 1 &&
               SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1;
  for (std::size_t i = 1; i < chain.size(); ++i)
    taken = taken && SSL_CTX_add1_chain_cert(context.get(), chain[i].get()) == 1;
  ERR_clear_error();
  if (!taken)
    throw UserError(
        fmt::format("tls.certificate: {} cannot be served: OpenSSL takes no key as "
                    "weak as that; use ECDSA, or RSA with 2048 bits",
                    files.certificate));
  return {.context = std::move(context),
          .begins_s = UnixSeconds(X509_get0_notBefore(own)),
          .ends_s = UnixSeconds(X509_get0_notAfter(own))};
}

void CertificateKeeper::Refresh() {
  read_boot_ms_ = clock_.BootMs();
  try {
    Texts texts = Read(files_);
    if (texts != texts_) {
      Served served = Make(files_, texts);
      RefuseEnded(served);
      Publish(std::move(served), std::move(texts));
      base::LogInfo("tls.certificate_changed", "new connections get another certificate",
                    {{"ends", DateText(ends_s_)}});
    }
    trouble_.clear();
  } catch (const UserError& error) {
    if (trouble_ == error.what()) return;
    trouble_ = error.what();
    base::LogError("tls.certificate_refused", "the certificate stays as it is",
                   {{"detail", trouble_}});
  }
}

/// Whoever puts an old file in the place of a good one gets no outage by it.
void CertificateKeeper::RefuseEnded(const Served& served) const {
  const std::int64_t now_s = clock_.WallMs() / 1'000;
  if (served.ends_s <= now_s && ends_s_ > now_s)
    throw UserError(fmt::format("tls.certificate: the new one ended {}", DateText(served.ends_s)));
}

void CertificateKeeper::Publish(Served served, Texts texts) {
  const std::int64_t now_s = clock_.WallMs() / 1'000;
  if (served.ends_s <= now_s || served.begins_s > now_s)
    base::LogWarn("tls.certificate_dates",
                  "no client will trust the certificate: its time is over, or has not come",
                  {{"begins", DateText(served.begins_s)}, {"ends", DateText(served.ends_s)}});
  texts_ = std::move(texts);
  ends_s_ = served.ends_s;
  ends_.Set(ends_s_);
  const base::Lock lock(mutex_);
  published_ = std::move(served.context);
}

}  // namespace tenure::http
