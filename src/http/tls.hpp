#pragma once

// OpenSSL's handles of TLS as values that end by themselves.

#include <memory>

#include <openssl/ssl.h>

namespace tenure::http {

struct TlsDeleter {
  void operator()(SSL* session) const { SSL_free(session); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

/// The encryption of one connection.
using TlsSession = std::unique_ptr<SSL, TlsDeleter>;

}  // namespace tenure::http
