#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <openssl/ssl.h>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::http {

/// OpenSSL's handles of TLS as values that end by themselves.
struct TlsDeleter {
  void operator()(SSL* session) const { SSL_free(session); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

/// The encryption of one connection.
using TlsSession = std::unique_ptr<SSL, TlsDeleter>;

/// Where a server's certificate is. Both in PEM; they may be one file.
struct CertificateFiles {
  std::string certificate{};  ///< the server's own first, then those that lead to the authority's
  std::string key{};          ///< its private key, without a passphrase

  friend bool operator==(const CertificateFiles&, const CertificateFiles&) = default;
};

/// Keeps the server's certificate fresh, off the way of connections: a new one takes what is there
/// and never waits for a file.
///
/// The files are read when the object is made, every kFilesMs and on `Use` (SIGHUP). What cannot be
/// used then changes nothing and is logged once: a file that cannot be read, is no certificate or
/// no key, a key that does not fit, a certificate that has ended. The last two are also what is
/// seen of two files that are being replaced one after the other: the next look finds both.
///
/// Invariants:
///  (1) A session that `NewSession` gave keeps its certificate until its connection ends; a change
///      is seen by connections that come later, and only by them. So nothing fails by a change.
///  (2) A published pair is a certificate and the key that fits it.
///
/// What is spoken: TLS 1.2 and 1.3, with forward secrecy; HTTP/1.1 by ALPN. No renegotiation, no
/// compression, no early data (which could be replayed). Tickets resume a session until the
/// certificate changes.
///
/// Life: construct (throws base::UserError when the files cannot be used; a certificate that has
/// ended is only warned of, since a clock may be wrong), Start, Stop; from one thread. It outlives
/// the server that takes sessions from it. Tests drive it by `Step` instead of `Start`.
/// Threads: `NewSession` and `Use` any.
class CertificateKeeper {
 public:
  static constexpr std::int64_t kFilesMs = 10'000;

  CertificateKeeper(CertificateFiles files, const base::Clock& clock, telemetry::Registry& metrics);
  ~CertificateKeeper();

  void Start();
  void Stop();

  /// When the certificate that is shown ends, in seconds since 1970.
  std::int64_t end_s() const { return ends_.value(); }

  /// For a connection that was accepted: the server's side, before its handshake. `socket` stays
  /// the caller's and is not to block.
  TlsSession NewSession(int socket) const;

  /// From now on these, read at once; as long as they cannot be used, what was there stays.
  void Use(CertificateFiles files);

  /// Does what is due, in the caller's thread. REQUIRES: not started.
  void Step();

 private:
  /// What stands in the files.
  struct Texts {
    std::string certificate{};
    std::string key{};

    friend bool operator==(const Texts&, const Texts&) = default;
  };
  /// A certificate that can be served.
  struct Served {
    std::shared_ptr<SSL_CTX> context{};
    std::int64_t begins_s = 0;  ///< unix time
    std::int64_t ends_s = 0;
  };

  void Loop();
  void Refresh();
  void RefuseEnded(const Served& served) const;
  void Publish(Served served, Texts texts);
  static Texts Read(const CertificateFiles& files);
  static Served Make(const CertificateFiles& files, const Texts& texts);

  const base::Clock& clock_;
  telemetry::Gauge& ends_;

  // The thread's (before Start and in Step: the caller's).
  CertificateFiles files_;
  Texts texts_;              // of what is published
  std::int64_t ends_s_ = 0;  // of what is published
  std::int64_t read_boot_ms_ = 0;
  std::string trouble_;  // what was logged last

  mutable base::Mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<SSL_CTX> published_ TENURE_GUARDED_BY(mutex_);
  /// What `Use` said, until it is read.
  std::optional<CertificateFiles> wanted_ TENURE_GUARDED_BY(mutex_);
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tenure::http
