#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include "http/asio.hpp"
#include "http/certificate.hpp"

namespace tenure::http {

class CertificateKeeper;

/// The bytes of one client's socket, as they are or inside of TLS.
///
/// Plain it is the socket and nothing else: one test of a pointer for each call. With TLS every
/// call does what can be done without waiting, and says what it needs to go on. That may be the
/// other direction (a read that has to send something first), so nobody decides by the name of a
/// call what to wait for.
///
/// Invariants:
///  (1) No call blocks, and none is repeated before what it needs has happened: no spinning.
///  (2) OpenSSL keeps no bytes of the socket beyond the record that it works on (there is no
///      read-ahead). So a caller that has taken what `Pending` told of may wait for the socket.
///  (3) Once a call failed, or the stream was closed, the session is used no more. A descriptor's
///      number may be another client's by then.
///
/// Life: of a connection, whose handlers keep it alive. Threads: the loop's own only.
class Stream {
 public:
  /// What has to happen before a call can go on.
  enum class Need { kNothing, kReadable, kWritable };

  struct Progress {
    std::size_t size = 0;  ///< bytes that were moved
    Need need = Need::kNothing;
    ErrorCode error{};  ///< the stream has ended, or is broken
  };

  /// How a client began.
  enum class Greeting {
    kUnderWay,
    kSecure,
    kPlainText,  ///< by speaking plain text; nothing of it was taken
    kFailed,
  };

  enum class Peer { kQuiet, kSpeaks, kGone };

  /// A client that was accepted. `certificate` null: plain.
  Stream(Socket socket, const CertificateKeeper* certificate);

  Socket& socket() { return socket_; }
  bool secure() const { return session_ != nullptr; }

  /// The handshake. Calls `handler(Greeting)`, later.
  /// REQUIRES: secure(), and nothing was read or written yet.
  template <class Handler>
  void AsyncGreet(Handler handler) {
    GreetWhen(Need::kReadable, std::move(handler));
  }

  /// As the socket's async_read_some: calls `handler(error, size)`, later.
  template <class Handler>
  void AsyncRead(std::span<char> space, Handler handler) {
    if (!session_)
      return socket_.async_read_some(asio::buffer(space.data(), space.size()), std::move(handler));
    ReadWhen(Pending() ? Need::kNothing : Need::kReadable, space, std::move(handler));
  }

  /// Takes as much as goes at once. What was not taken is to be offered again, at the beginning of
  /// the next call.
  Progress WriteSome(std::string_view bytes);

  /// Calls `handler(error)`, later, when it has happened.
  template <class Handler>
  void Await(Need need, Handler handler) {
    switch (need) {
      case Need::kReadable:
        return socket_.async_wait(Socket::wait_read, std::move(handler));
      case Need::kWritable:
        return socket_.async_wait(Socket::wait_write, std::move(handler));
      case Need::kNothing:
        asio::post(socket_.get_executor(),
                   [handler = std::move(handler)]() mutable { handler(ErrorCode()); });
    }
  }

  /// Looks whether the client has said something, or has gone, and takes nothing.
  Peer LookAtPeer();

  /// Nothing of TLS from here on. REQUIRES: the greeting was kPlainText.
  void SpeakPlain() { session_.reset(); }

  /// Says that nothing more will come. What the client still sends is read as it comes, to be
  /// thrown away.
  void EndSending(ErrorCode& error);
  void Close();

 private:
  struct Greeted {
    Greeting greeting;
    Need need = Need::kNothing;
  };

  template <class Handler>
  void GreetWhen(Need need, Handler handler) {
    Await(need, [this, handler = std::move(handler)](const ErrorCode& error) mutable {
      const Greeted greeted = error ? Greeted{Greeting::kFailed} : Greet();
      if (greeted.greeting == Greeting::kUnderWay)
        return GreetWhen(greeted.need, std::move(handler));
      handler(greeted.greeting);
    });
  }

  template <class Handler>
  void ReadWhen(Need need, std::span<char> space, Handler handler) {
    Await(need, [this, space, handler = std::move(handler)](const ErrorCode& error) mutable {
      const Progress progress = error ? Progress{.error = error} : ReadSome(space);
      if (progress.need != Need::kNothing)
        return ReadWhen(progress.need, space, std::move(handler));
      handler(progress.error, progress.size);
    });
  }

  Greeted Greet();
  Progress ReadSome(std::span<char> space);
  bool Pending() const;
  Progress Stuck(int result);
  void SayGoodbye();

  Socket socket_;
  TlsSession session_;    // null: plain, or over
  bool greeted_ = false;  // the handshake is done
  bool broken_ = false;   // OpenSSL wants no further call
};

}  // namespace tenure::http
