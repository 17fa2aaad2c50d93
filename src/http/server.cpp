#include "http/server.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/uuid.hpp"
#include "http/connection.hpp"
#include "http/loop.hpp"
#include "http/message.hpp"
#include "http/server_context.hpp"

namespace tenure::http {
namespace {

constexpr int kSendBufferBytes = 256 * 1024;

std::string Printed(const ServerOptions& options) {
  const bool v6 = options.host.find(':') != std::string::npos && !options.host.starts_with('[');
  return v6 ? fmt::format("[{}]:{}", options.host, options.port)
            : fmt::format("{}:{}", options.host, options.port);
}

Tcp::endpoint EndpointOf(const ServerOptions& options) {
  std::string host = options.host == "localhost" ? "127.0.0.1" : options.host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  ErrorCode error;
  const auto address = asio::ip::make_address(host, error);
  if (error)
    throw base::UserError(fmt::format(
        "cannot listen on {}: '{}' is not an IP address; give one, such as {} 127.0.0.1:8080",
        Printed(options), options.host, options.flag));
  return {address, options.port};
}

void RequireLoopback(const ServerOptions& options, const Tcp::endpoint& endpoint) {
  if (endpoint.address().is_loopback()) return;
  throw base::UserError(fmt::format(
      "refusing to listen on {}: without authentication Tenure serves this machine only.\n"
      "Say who may come in (auth.issuer, auth.audience, and auth.keys or auth.jwks_url: see "
      "docs/security.md), or listen on a loopback address: {} 127.0.0.1:8080",
      Printed(options), options.flag));
}

[[noreturn]] void RefuseAddress(const ServerOptions& options, const ErrorCode& error) {
  throw base::UserError(
      fmt::format("cannot listen on {}: {}; choose another address with {} HOST:PORT",
                  Printed(options), error.message(), options.flag));
}

Acceptor Bind(const ServerOptions& options, const Tcp::endpoint& endpoint, IoExecutor executor) {
  try {
    Acceptor acceptor(executor, endpoint.protocol());
    acceptor.set_option(Acceptor::reuse_address(true));
    // Those that are accepted have it too. By itself the kernel keeps megabytes of answers for a
    // client that does not read them.
    acceptor.set_option(asio::socket_base::send_buffer_size(kSendBufferBytes));
    acceptor.bind(endpoint);
    acceptor.listen(Acceptor::max_listen_connections);
    return acceptor;
  } catch (const boost::system::system_error& error) {
    RefuseAddress(options, error.code());
  }
}

Acceptor Open(const ServerOptions& options, bool loopback_only, IoExecutor executor) {
  const Tcp::endpoint endpoint = EndpointOf(options);
  if (loopback_only) RequireLoopback(options, endpoint);
  return Bind(options, endpoint, executor);
}

/// A descriptor that is kept for the moment when none is to be had: what is closed can be opened.
class SpareDescriptor {
 public:
  SpareDescriptor() { Take(); }
  ~SpareDescriptor() { Give(); }
  SpareDescriptor(const SpareDescriptor&) = delete;
  SpareDescriptor& operator=(const SpareDescriptor&) = delete;

  /// False: there was none to keep.
  bool Give() {
    const int given = std::exchange(descriptor_, -1);
    if (given >= 0) ::close(given);
    return given >= 0;
  }
  void Take() {
    if (descriptor_ < 0) descriptor_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }

 private:
  int descriptor_ = -1;
};

/// The listening socket: accepts on the first loop and hands the sockets out to all loops in turn.
///
/// When there are as many connections as there may be, the one that has waited longest for its
/// client makes room, of the loop whose turn it is; only when none waits in any loop is the new one
/// turned away. When the process has no descriptor left, a spare one serves to say so.
class Listener {
 public:
  Listener(ServerContext& context, std::vector<std::shared_ptr<Loop>> loops, bool loopback_only)
      : context_(context),
        loops_(std::move(loops)),
        acceptor_(Open(context.options, loopback_only, loops_.front()->executor())),
        port_(acceptor_.local_endpoint().port()) {}

  std::uint16_t port() const { return port_; }
  void Start() {
    ErrorCode ignored;
    acceptor_.non_blocking(true, ignored);
    loops_.front()->OnSweep([this] {
      spare_.Take();
      warned_ = false;
      if (paused_) Accept();
    });
    Accept();
  }
  void Close() {
    ErrorCode ignored;
    acceptor_.close(ignored);
    paused_ = false;
  }

 private:
  void Accept() {
    paused_ = false;
    const std::size_t turn = next_loop_;
    next_loop_ = (next_loop_ + 1) % loops_.size();
    acceptor_.async_accept(loops_[turn]->executor(),
                           [this, turn](const ErrorCode& error, Socket socket) {
                             OnAccepted(error, std::move(socket), turn);
                           });
  }
  void OnAccepted(const ErrorCode& error, Socket socket, std::size_t turn) {
    if (!acceptor_.is_open()) return;
    if (error == asio::error::connection_aborted) return Accept();
    if (error) return OnTrouble(error);
    ConnectionSlot slot(context_);
    if (slot.full())
      MakeRoom(std::move(socket), std::move(slot), turn, 0);
    else
      Serve(std::move(socket), std::move(slot), turn);
    Accept();
  }
  void Serve(Socket socket, ConnectionSlot slot, std::size_t turn) {
    loops_[turn]->Post(
        [this, loop = loops_[turn], socket = std::move(socket), slot = std::move(slot)]() mutable {
          if (loop->stopping()) return;
          std::make_shared<Connection>(std::move(socket), std::move(slot), loop, context_)->Start();
        });
  }
  /// Asks one loop after the other, `asked` of them so far.
  void MakeRoom(Socket socket, ConnectionSlot slot, std::size_t turn, std::size_t asked) {
    const std::shared_ptr<Loop>& loop = loops_[(turn + asked) % loops_.size()];
    loop->Post(
        [this, loop, turn, asked, socket = std::move(socket), slot = std::move(slot)]() mutable {
          if (loop->stopping()) return;
          if (loop->CloseIdlest())
            Serve(std::move(socket), std::move(slot), turn);
          else if (asked + 1 < loops_.size())
            MakeRoom(std::move(socket), std::move(slot), turn, asked + 1);
          else
            TurnAway(std::move(socket), *loop);
        });
  }
  void OnTrouble(const ErrorCode& error) {
    if (!std::exchange(warned_, true))
      base::LogWarn("http.accept", "no connection can be accepted for now",
                    {{"error", error.message()}});
    const bool exhausted =
        error == asio::error::no_descriptors || error.value() == ENFILE;  // the machine's
    if (exhausted && UseSpare()) return Accept();
    paused_ = true;
  }
  /// Tells the client that waits. A connection that only waits gives its descriptor away, too:
  /// others of this process may need one more than it does.
  bool UseSpare() {
    if (!spare_.Give()) return false;
    ErrorCode error;
    Socket socket(loops_.front()->executor());
    acceptor_.accept(socket, error);
    if (!error) TurnAway(std::move(socket), *loops_.front());
    loops_.front()->CloseIdlest();
    spare_.Take();
    return !error || error == asio::error::would_block;
  }
  /// Nothing is read and nothing is kept for a client that is one too many; with TLS nothing can be
  /// said either, without the work of a handshake.
  void TurnAway(Socket socket, Loop& loop) {
    context_.probe.Rejected(Rejection::kConnections);
    if (context_.options.certificate) return;
    const std::string id = base::Uuid::V7(loop.clock().WallMs()).ToString();
    std::string answer;
    AppendResponse(answer,
                   ToResponse(ToProblem(Rejection::kConnections, "Try again in a moment."), id),
                   {.request_id = id, .date = loop.date(), .close = true});
    ErrorCode ignored;
    std::array<char, 4'096> unread;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(answer), ignored);
    socket.shutdown(Socket::shutdown_send, ignored);
    socket.read_some(asio::buffer(unread), ignored);  // unread bytes would reset the connection
  }

  ServerContext& context_;
  const std::vector<std::shared_ptr<Loop>> loops_;
  std::size_t next_loop_ = 0;
  Acceptor acceptor_;
  std::uint16_t port_ = 0;
  SpareDescriptor spare_;
  bool paused_ = false;  // nothing can be accepted; the sweep tries again
  bool warned_ = false;  // since the last sweep
};

}  // namespace

/// Loops, their threads and the listener, and the order in which they begin and end.
class Server::Impl {
 public:
  Impl(const ServerOptions& options, const Router& router, telemetry::Registry& metrics,
       const base::Clock& clock, Authenticator authenticator, telemetry::Tracer* tracer)
      : protected_mode_(!authenticator && options.visitors == Visitors::kLocal),
        clock_(clock),
        context_(options, router, metrics, clock, std::move(authenticator), tracer) {}

  void Start() {
    TENURE_CHECK(loops_.empty(), "a server is started once");
    for (int i = 0; i < context_.options.threads; ++i)
      loops_.push_back(std::make_shared<Loop>(clock_, context_.options.sweep_interval_ms));
    TENURE_CHECK(!loops_.empty(), "a server has at least one loop");
    listener_.emplace(context_, loops_, protected_mode_);
    loops_.front()->Post([this] { listener_->Start(); });
    {
      const base::Lock lock(mutex_);
      running_ = loops_.size();
    }
    for (std::size_t i = 0; i < loops_.size(); ++i) threads_.emplace_back([this, i] { Run(i); });
  }

  std::uint16_t port() const { return listener_ ? listener_->port() : context_.options.port; }

  void UseRates(const std::vector<RateClass>& classes) { context_.limits.Use(classes); }
  Traffic traffic() const { return context_.probe.traffic(); }

  void Stop(std::int64_t grace_ms) {
    if (threads_.empty()) return;
    loops_.front()->Post([this] { listener_->Close(); });
    for (const auto& loop : loops_) loop->Post([&loop] { loop->BeginStop(); });
    if (!AllEndedWithin(grace_ms))
      for (const auto& loop : loops_) loop->Post([&loop] { loop->CloseConnections(); });
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const auto& loop : loops_) loop->Shut();
  }

 private:
  void Run(std::size_t index) {
    pthread_setname_np(pthread_self(), fmt::format("http-{}", index).c_str());
    loops_[index]->Run();
    const base::Lock lock(mutex_);
    --running_;
    ended_.notify_all();
  }

  bool AllEndedWithin(std::int64_t ms) {
    base::Lock lock(mutex_);
    return ended_.wait_for(lock.native(), std::chrono::milliseconds(ms), [this] {
      mutex_.AssertHeld();
      return running_ == 0;
    });
  }

  const bool protected_mode_;
  const base::Clock& clock_;
  ServerContext context_;
  std::vector<std::shared_ptr<Loop>> loops_;
  std::optional<Listener> listener_;
  std::vector<std::thread> threads_;

  base::Mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ TENURE_GUARDED_BY(mutex_) = 0;  // loops
};

void CheckAddress(const ServerOptions& options, bool authenticates, bool while_another_runs) {
  const Tcp::endpoint endpoint = EndpointOf(options);
  if (!authenticates && options.visitors == Visitors::kLocal) RequireLoopback(options, endpoint);
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor(context);
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1, error);
  if (!error || (while_another_runs && error == asio::error::address_in_use)) return;
  RefuseAddress(options, error);
}

Server::Server(ServerOptions options, const Router& router, telemetry::Registry& metrics,
               const base::Clock& clock, Authenticator authenticator, telemetry::Tracer* tracer)
    : impl_(std::make_unique<Impl>(options, router, metrics, clock, std::move(authenticator),
                                   tracer)) {}

Server::~Server() { Stop(0); }

Traffic Server::traffic() const { return impl_->traffic(); }
void Server::UseRates(const std::vector<RateClass>& classes) { impl_->UseRates(classes); }

void Server::Start() { impl_->Start(); }
std::uint16_t Server::port() const { return impl_->port(); }
void Server::Stop(std::int64_t grace_ms) { impl_->Stop(grace_ms); }

}  // namespace tenure::http
