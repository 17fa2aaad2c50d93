#include "http/stream.hpp"

#include <sys/socket.h>

#include <cerrno>

#include <boost/asio/error.hpp>
#include <openssl/err.h>

#include "http/certificate.hpp"

namespace tenure::http {
namespace {

/// What `recv` with MSG_PEEK says of the next byte.
struct Peeked {
  Stream::Peer peer;
  char next = 0;
};

Peeked Peek(Socket& socket) {
  char next = 0;
  const ssize_t size = ::recv(socket.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  if (size > 0) return {Stream::Peer::kSpeaks, next};
  const bool quiet = size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return {quiet ? Stream::Peer::kQuiet : Stream::Peer::kGone};
}

/// Every method of HTTP begins with a capital letter; no record of TLS does.
bool BeginsARequest(char c) { return c >= 'A' && c <= 'Z'; }

}  // namespace

Stream::Stream(Socket socket, const CertificateKeeper* certificate)
    : socket_(std::move(socket)),
      session_(certificate ? certificate->NewSession(socket_.native_handle()) : nullptr) {}

Stream::Progress Stream::WriteSome(std::string_view bytes) {
  Progress progress;
  if (!session_) {
    progress.size = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), progress.error);
    if (progress.error == asio::error::would_block) return {.need = Need::kWritable};
    return progress;
  }
  ERR_clear_error();
  const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &progress.size);
  return result == 1 ? progress : Stuck(result);
}

/// Plain when the session ended while the read waited: then the bytes are only taken away.
Stream::Progress Stream::ReadSome(std::span<char> space) {
  Progress progress;
  if (!session_) {
    progress.size = socket_.read_some(asio::buffer(space.data(), space.size()), progress.error);
    if (progress.error == asio::error::would_block) return {.need = Need::kReadable};
    return progress;
  }
  ERR_clear_error();
  const int result = SSL_read_ex(session_.get(), space.data(), space.size(), &progress.size);
  return result == 1 ? progress : Stuck(result);
}

Stream::Greeted Stream::Greet() {
  if (!session_) return {Greeting::kFailed};  // closed while it waited
  if (SSL_in_before(session_.get()) == 1) {
    const Peeked peeked = Peek(socket_);
    if (peeked.peer == Peer::kGone) return {Greeting::kFailed};
    if (peeked.peer == Peer::kQuiet) return {Greeting::kUnderWay, Need::kReadable};
    if (BeginsARequest(peeked.next)) return {Greeting::kPlainText};
  }
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  greeted_ = result == 1;
  if (greeted_) return {Greeting::kSecure};
  const Progress stuck = Stuck(result);
  return stuck.error ? Greeted{Greeting::kFailed} : Greeted{Greeting::kUnderWay, stuck.need};
}

/// Whether bytes of the client are here that the socket does not know of any more.
bool Stream::Pending() const { return SSL_pending(session_.get()) > 0; }

/// Why OpenSSL did not do it. An end without TLS's own goodbye is an end like any other here: what
/// it cuts off is no whole request, and is not served.
Stream::Progress Stream::Stuck(int result) {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.need = Need::kReadable};
    case SSL_ERROR_WANT_WRITE:
      return {.need = Need::kWritable};
    case SSL_ERROR_ZERO_RETURN:
      return {.error = asio::error::eof};
    default:
      broken_ = true;
      ERR_clear_error();
      return {.error = asio::error::connection_reset};
  }
}

Stream::Peer Stream::LookAtPeer() {
  if (!session_) return Peek(socket_).peer;
  char next = 0;
  std::size_t size = 0;
  ERR_clear_error();
  const int result = SSL_peek_ex(session_.get(), &next, 1, &size);
  if (result == 1) return Peer::kSpeaks;
  return Stuck(result).error ? Peer::kGone : Peer::kQuiet;
}

/// One try: a client that takes nothing any more needs no goodbye.
void Stream::SayGoodbye() {
  if (!session_ || !greeted_ || broken_) return;
  ERR_clear_error();
  SSL_shutdown(session_.get());
  ERR_clear_error();
}

void Stream::EndSending(ErrorCode& error) {
  SayGoodbye();
  session_.reset();
  socket_.shutdown(Socket::shutdown_send, error);
}

void Stream::Close() {
  SayGoodbye();
  session_.reset();
  ErrorCode ignored;
  socket_.close(ignored);
}

}  // namespace tenure::http
