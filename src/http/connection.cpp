#include "http/connection.hpp"

#include <array>
#include <limits>
#include <utility>

#include <boost/asio/buffer.hpp>

#include "base/error.hpp"
#include "base/uuid.hpp"
#include "http/exchange.hpp"
#include "http/message.hpp"

namespace tenure::http {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// Answers to pipelined requests are gathered up to here before they are written.
constexpr std::size_t kFlushBytes = 64 * 1024;
/// How long a client may take to hang up after the last answer.
constexpr std::int64_t kLingerMs = 2'000;
/// What a session of TLS takes while it agrees on its keys, certificates of both sides included.
constexpr std::size_t kGreetingBytes = 64 * 1024;
constexpr std::size_t kMaxRequestIdBytes = 128;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

bool IsRequestId(std::string_view text) {
  if (text.empty() || text.size() > kMaxRequestIdBytes) return false;
  for (const char c : text) {
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!alphanumeric && c != '.' && c != '_' && c != ':' && c != '-') return false;
  }
  return true;
}

base::IpAddress AddressOf(const Tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  return address.is_v4() ? base::IpAddress::V4(address.to_v4().to_bytes())
                         : base::IpAddress::V6(address.to_v6().to_bytes());
}

}  // namespace

Connection::Connection(Socket socket, ConnectionSlot slot, std::shared_ptr<Loop> loop,
                       ServerContext& context)
    : stream_(std::move(socket), context.options.certificate),
      slot_(std::move(slot)),
      loop_(std::move(loop)),
      context_(context),
      reader_(context.options.max_header_bytes, context.body_memory),
      greeting_share_(context.body_memory) {}

void Connection::Start() {
  loop_->Add(*this);
  ErrorCode ignored;  // a client that is gone already is noticed by the first read
  stream_.socket().non_blocking(true, ignored);
  stream_.socket().set_option(Tcp::no_delay(true), ignored);
  LearnPeer();
  phase_ = Phase::kServing;  // so that the first deadline is set
  if (!stream_.secure()) return WaitForNext();
  if (!greeting_share_.GrowTo(kGreetingBytes)) {
    context_.probe.Rejected(Rejection::kBodyMemory);  // nothing can be said without a handshake
    return Close();
  }
  Enter(Phase::kGreeting);
  stream_.AsyncGreet(
      [self = shared_from_this()](Stream::Greeting greeting) { self->OnGreeted(greeting); });
}

void Connection::OnGreeted(Stream::Greeting greeting) {
  if (closed()) return;
  greeting_share_.Release();
  context_.probe.Greeted(greeting == Stream::Greeting::kSecure);
  spoken_ = true;
  if (greeting == Stream::Greeting::kSecure) return WaitForNext();
  if (greeting != Stream::Greeting::kPlainText) return Close();
  stream_.SpeakPlain();
  Refuse({Rejection::kNotTls, "Use https:// with this address."});
  Advance();
}

void Connection::Read() {
  if (reading_) return;
  reading_ = true;
  stream_.AsyncRead(reader_.Space(),
                    [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                      self->OnRead(error, size);
                    });
}

void Connection::OnRead(const ErrorCode& error, std::size_t size) {
  reading_ = false;
  if (closed()) return;
  if (error) return Close();
  if (phase_ == Phase::kLingering) return Read();
  spoken_ = true;
  reader_.Received(size);
  Advance();
}

void Connection::Advance() {
  if (advancing_) return;
  advancing_ = true;
  const bool more = TakeTurn();
  advancing_ = false;
  if (closed()) return;
  if (more && output_.size() < kFlushBytes) return TakeTurnLater();
  const bool flushed = Flush();
  if (closed()) return;
  if (more && flushed) return TakeTurnLater();
  WaitForNext();
}

/// Serves one request, or what is here of it. Returns whether another one may be here already.
bool Connection::TakeTurn() {
  bool served = false;
  while (!serving_ && !last_answer_in_ && !write_pending_ && !closed()) {
    if (served) return !reader_.empty();
    switch (reader_.Advance()) {
      case RequestReader::State::kHead:
        Admit();
        break;
      case RequestReader::State::kComplete:
        Serve();
        served = true;
        break;
      case RequestReader::State::kRefused:
        Refuse(reader_.refusal());
        break;
      case RequestReader::State::kBody:
        OfferToContinue();
        return false;
      case RequestReader::State::kHeader:
        return false;
    }
  }
  return false;
}

/// Behind all that is ready now. The answers so far leave with those that follow.
void Connection::TakeTurnLater() {
  Enter(Phase::kServing);
  loop_->Post([self = shared_from_this()] {
    if (!self->closed()) self->Advance();
  });
}

/// A refusal need not wait for a body that is not here. Where it ends is not known then, so that
/// answer is the last.
void Connection::Admit() {
  ChooseRequestId();
  if (by_proxy_)
    request().client_address = context_.options.proxies.ClientOf(peer_, request()).ToString();
  admission_ = context_.dispatcher.Admit(request());
  if (admission_.refusal) {
    if (!reader_.body_is_here()) return Serve();
    return reader_.TakeBody(std::numeric_limits<std::size_t>::max());
  }
  const Route& route = *admission_.route;
  reader_.TakeBody(
      route.max_body_bytes > 0 ? route.max_body_bytes : context_.options.max_body_bytes,
      route.body_memory);
}

void Connection::Serve() {
  serving_ = true;
  Enter(Phase::kServing);
  context_.dispatcher.Serve(
      std::make_shared<Exchange>(shared_from_this(), context_.probe.unmatched()),
      std::exchange(admission_, {}));
}

void Connection::OfferToContinue() {
  if (!reader_.wants_continue() || continue_sent_) return;
  continue_sent_ = true;
  output_ += kContinue;
}

void Connection::ChooseRequestId() {
  const auto given = request().FindHeader("X-Request-Id");
  std::string& id = request().request_id;
  id.clear();
  if (given && IsRequestId(*given))
    id = *given;
  else
    base::Uuid::V7(loop_->clock().WallMs()).AppendTo(id);
}

/// Once: the socket's peer does not change, and nobody else speaks for it unless it is a proxy.
void Connection::LearnPeer() {
  ErrorCode gone;
  peer_ = AddressOf(stream_.socket().remote_endpoint(gone));
  by_proxy_ = context_.options.proxies.Trusts(peer_);
  request().client_address = peer_.ToString();
}

void Connection::Answer(Response response) {
  TENURE_CHECK(serving_, "an answer without a request");
  const auto dropped = std::move(waiter_);  // at the end: it may hold the exchange
  const bool complete = reader_.state() == RequestReader::State::kComplete;
  if (!complete || !reader_.head().keep_alive || loop_->stopping()) last_answer_in_ = true;
  Append(response, request().method == Method::kHead);
  serving_ = false;
  continue_sent_ = false;
  if (complete) reader_.Next();
  Advance();
}

void Connection::Refuse(const Refusal& refusal) {
  context_.probe.Rejected(refusal.reason);
  last_answer_in_ = true;
  std::string& id = request().request_id;
  id = base::Uuid::V7(loop_->clock().WallMs()).ToString();
  Append(ToResponse(ToProblem(refusal.reason, refusal.detail), id), false);
}

void Connection::Append(const Response& response, bool head) {
  AppendResponse(output_, response,
                 {.request_id = request().request_id,
                  .date = loop_->date(),
                  .head = head,
                  .close = last_answer_in_});
}

/// Writes what is there; returns whether all of it has left.
bool Connection::Flush() {
  if (write_pending_) return false;
  while (written_ < output_.size()) {
    const Stream::Progress progress =
        stream_.WriteSome({output_.data() + written_, output_.size() - written_});
    written_ += progress.size;
    if (progress.need != Stream::Need::kNothing) {
      WaitToWrite(progress.need);
      return false;
    }
    if (progress.error) {
      Close();
      return false;
    }
  }
  written_ = 0;
  output_.clear();
  if (output_.capacity() > 2 * kFlushBytes) output_ = std::string();
  return true;
}

void Connection::WaitToWrite(Stream::Need need) {
  write_pending_ = true;
  stream_.Await(need, [self = shared_from_this()](const ErrorCode& error) {
    self->write_pending_ = false;
    if (self->closed()) return;
    if (error) return self->Close();
    self->Advance();
  });
}

void Connection::WaitForNext() {
  if (write_pending_) return Enter(Phase::kWriting);
  if (last_answer_in_) return EndGently();
  if (serving_) return Enter(Phase::kServing);
  if (loop_->stopping() && reader_.empty()) return Close();
  Enter(WaitingPhase());
  Read();
}

Connection::Phase Connection::WaitingPhase() const {
  if (reader_.state() == RequestReader::State::kBody) return Phase::kBody;
  if (!reader_.empty()) return Phase::kHeader;
  return spoken_ ? Phase::kIdle : Phase::kSilent;
}

/// Closing a socket that has unread bytes resets the connection, and a reset can overtake the
/// answer: so say that nothing more will come, and wait a little for the client to hang up.
void Connection::EndGently() {
  ErrorCode error;
  stream_.EndSending(error);
  if (error) return Close();
  if (loop_->stopping()) {
    std::array<char, 4'096> unread;
    stream_.socket().read_some(asio::buffer(unread), error);
    return Close();
  }
  reader_.Discard();
  Enter(Phase::kLingering);
  Read();
}

void Connection::Enter(Phase phase) {
  if (phase == phase_) return;
  if (is_linked()) loop_->EndIdle(*this);
  phase_ = phase;
  if (IsIdle(phase)) loop_->BeginIdle(*this);
  const std::int64_t timeout_ms = TimeoutMs(phase);
  deadline_ms_ = timeout_ms == kNever ? kNever : loop_->clock().BootMs() + timeout_ms;
}

/// Whether no request is lost when the connection ends: none is here as a whole.
bool Connection::IsIdle(Phase phase) {
  return phase == Phase::kGreeting || phase == Phase::kSilent || phase == Phase::kIdle ||
         phase == Phase::kHeader;
}

std::int64_t Connection::TimeoutMs(Phase phase) const {
  switch (phase) {
    case Phase::kIdle:
      return context_.options.idle_timeout_ms;
    case Phase::kGreeting:
    case Phase::kSilent:
    case Phase::kHeader:
      return context_.options.header_timeout_ms;
    case Phase::kBody:
      return context_.options.body_timeout_ms;
    case Phase::kWriting:
      return context_.options.write_timeout_ms;
    case Phase::kLingering:
      return kLingerMs;
    case Phase::kServing:
    case Phase::kClosed:
      break;
  }
  return kNever;
}

void Connection::CheckDeadline(std::int64_t now_ms) {
  if (now_ms < deadline_ms_) return;
  switch (phase_) {
    case Phase::kHeader:
      Refuse({Rejection::kHeaderTimeout, "Send the whole header at once."});
      return Advance();
    case Phase::kBody:
      Refuse({Rejection::kBodyTimeout, "Send the whole body at once."});
      return Advance();
    case Phase::kGreeting:
      context_.probe.Greeted(false);
      return Close();
    case Phase::kSilent:
    case Phase::kIdle:
    case Phase::kWriting:
    case Phase::kLingering:
      return Close();
    case Phase::kServing:
    case Phase::kClosed:
      return;
  }
}

void Connection::BeginStop() {
  const bool idle = phase_ == Phase::kGreeting || phase_ == Phase::kSilent ||
                    phase_ == Phase::kIdle || phase_ == Phase::kLingering;
  if (idle) return Close();
  if (waiter_) Tell(&Waiter::stopping);
}

void Connection::Close() {
  if (closed()) return;
  if (is_linked()) loop_->EndIdle(*this);
  phase_ = Phase::kClosed;
  greeting_share_.Release();
  stream_.Close();
  slot_.Release();
  if (waiter_) Tell(&Waiter::gone);
  loop_->Remove(*this);
}

void Connection::MakeRoom() {
  TENURE_CHECK(IsIdle(phase_), "a connection that is busy makes no room");
  context_.probe.ConnectionEvicted();
  Close();
}

void Connection::OnClientGone(base::Task gone) {
  OpenWaiter().gone = std::move(gone);
  if (closed()) return Tell(&Waiter::gone);
  WatchPeer();
}

void Connection::OnStopping(base::Task stopping) {
  OpenWaiter().stopping = std::move(stopping);
  if (loop_->stopping()) Tell(&Waiter::stopping);
}

void Connection::ForgetWaiter() { const auto dropped = std::move(waiter_); }

Connection::Waiter& Connection::OpenWaiter() {
  TENURE_CHECK(serving_, "nothing waits without a request");
  if (!waiter_) waiter_ = std::make_unique<Waiter>();
  return *waiter_;
}

/// By way of the inbox: what a handler does then must not happen in the middle of a walk over the
/// connections, or of the handler itself. When it was answered meanwhile there is nobody to tell; a
/// waiter of the next request may be told instead that the server stops, which is true for it too
/// (and of a closed connection there is no next request). The loop runs what is posted here, also
/// when this was its last connection: a post is work.
void Connection::Tell(News news) {
  loop_->Post([self = shared_from_this(), news] {
    if (!self->waiter_) return;
    base::Task tell = std::move(*self->waiter_.*news);
    if (news == &Waiter::gone) self->ForgetWaiter();
    if (tell) tell();
  });
}

/// A watch that outlives its request is left alone: it costs nothing until the next bytes arrive,
/// and then it looks whether there is somebody to tell.
void Connection::WatchPeer() {
  if (std::exchange(watching_, true)) return;
  stream_.Await(Stream::Need::kReadable, [self = shared_from_this()](const ErrorCode& error) {
    self->watching_ = false;
    if (self->closed() || !self->waiter_ || !self->waiter_->gone) return;
    if (error) return self->Close();
    switch (self->stream_.LookAtPeer()) {
      case Stream::Peer::kQuiet:
        return self->WatchPeer();
      case Stream::Peer::kSpeaks:  // the next request: its end is not to be seen behind it
        return;
      case Stream::Peer::kGone:
        return self->Close();
    }
  });
}

}  // namespace tenure::http
