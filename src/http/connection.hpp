#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/ip.hpp"
#include "http/asio.hpp"
#include "http/loop.hpp"
#include "http/request_reader.hpp"
#include "http/server_context.hpp"
#include "http/stream.hpp"

namespace tenure::http {

/// One client's socket: reads requests, has them served one at a time, writes the answers in order.
///
///   read ─> reader ─> Admit ─> Serve ─> (handler, perhaps a lane) ─> Answer ─> write
///     ^                                                                          │
///     └─────────────────── next request, or Linger and Close <───────────────────┘
///
/// With TLS a handshake comes first; from then on the bytes are the stream's business.
///
/// Life: `Start` on its loop; after that whoever waits for something holds it: a pending read or
/// write, or the exchange. While a request is served nothing is read, so a client that has gone is
/// noticed when its answer is written, unless its handler waits and wants to know: then the socket
/// is watched, and looked into without taking anything out.
///
/// A turn is one request. Of a client that sent many at once the next one is served after everybody
/// else had a turn; answers that are ready together still leave in one write.
///
/// Bounded: input by RequestReader, output by one answer beyond kFlushBytes (nothing further is
/// served until the client has taken it), every phase but a handler's by a deadline that the loop's
/// sweep checks. A connection that waits for its client may be closed to make room for another one.
///
/// Threads: the loop's own only.
class Connection final : public std::enable_shared_from_this<Connection>, public IdleLink {
 public:
  Connection(Socket socket, ConnectionSlot slot, std::shared_ptr<Loop> loop,
             ServerContext& context);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Start();

  /// Answers the request that is being served.
  /// REQUIRES: not closed, and this request has no answer yet.
  void Answer(Response response);

  /// Of the request that is being served: see Exchange. The connection may be closed already.
  void OnClientGone(base::Task gone);
  void OnStopping(base::Task stopping);
  /// Its handler waits no more: it answered, though the connection is closed.
  void ForgetWaiter();

  void Close();
  /// The server has no place for another client. REQUIRES: it waits for its own.
  void MakeRoom();
  /// The server stops: closes when idle; tells a handler that waits.
  void BeginStop();
  bool closed() const { return phase_ == Phase::kClosed; }

  /// Ends the phase when it is overdue.
  void CheckDeadline(std::int64_t now_ms);

  Request& request() { return reader_.request(); }
  Waits& waits() { return *context_.waits; }
  Loop& loop() { return *loop_; }
  const std::shared_ptr<Loop>& shared_loop() const { return loop_; }

  /// Where the loop keeps it.
  std::size_t place() const { return place_; }
  void set_place(std::size_t place) { place_ = place; }

 private:
  enum class Phase {
    kGreeting,   ///< TLS agrees on its keys; nothing was asked yet
    kSilent,     ///< nothing was said yet
    kIdle,       ///< between two requests
    kHeader,     ///< some bytes of a header are here
    kBody,       ///< the header is complete, the body is not
    kServing,    ///< a handler or a lane has it
    kWriting,    ///< the client has to take bytes before anything goes on
    kLingering,  ///< all is said; waits for the client to hang up, so that it reads the answer
    kClosed,
  };

  /// What a handler that waits wants to be told.
  struct Waiter {
    base::Task gone{};
    base::Task stopping{};
  };
  using News = base::Task Waiter::*;

  void OnGreeted(Stream::Greeting greeting);
  void Read();
  void OnRead(const ErrorCode& error, std::size_t size);
  void Advance();
  bool TakeTurn();
  void TakeTurnLater();
  void Admit();
  void Serve();
  void OfferToContinue();
  void Refuse(const Refusal& refusal);
  void ChooseRequestId();
  void LearnPeer();
  bool Flush();
  void WaitToWrite(Stream::Need need);
  void WaitForNext();
  Phase WaitingPhase() const;
  void EndGently();
  void Enter(Phase phase);
  static bool IsIdle(Phase phase);
  std::int64_t TimeoutMs(Phase phase) const;
  void Append(const Response& response, bool head);
  Waiter& OpenWaiter();
  void Tell(News news);
  void WatchPeer();

  Stream stream_;
  ConnectionSlot slot_;
  const std::shared_ptr<Loop> loop_;
  ServerContext& context_;
  RequestReader reader_;
  Dispatcher::Admission admission_;  // of the request that is being read
  BodyShare greeting_share_;         // while TLS agrees on its keys

  std::string output_;       // answers that the client has not taken yet
  std::size_t written_ = 0;  // of them: sent

  Phase phase_ = Phase::kIdle;
  std::int64_t deadline_ms_ = 0;
  bool reading_ = false;            // a read is pending
  bool write_pending_ = false;      // the stream takes no more for now
  bool serving_ = false;            // an exchange is under way
  bool advancing_ = false;          // Advance is on the stack: an answer must not start it again
  bool spoken_ = false;             // the client has sent something
  bool continue_sent_ = false;      // "100 Continue" for the request that is being read
  bool last_answer_in_ = false;     // nothing is served any more; close when the output is out
  bool watching_ = false;           // a wait for the peer's end is pending
  std::unique_ptr<Waiter> waiter_;  // of the request that is served; rarely any
  base::IpAddress peer_;            // the other end of the socket
  bool by_proxy_ = false;           // and it is a proxy that is trusted
  std::size_t place_ = 0;
};

}  // namespace tenure::http
