#include "http/listener.hpp"

#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/uuid.hpp"
#include "http/connection.hpp"
#include "http/response_writer.hpp"

namespace tenure::http {
namespace {

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
      "docs/security.md), or listen on a loopback address: --listen 127.0.0.1:8080",
      Printed(options)));
}

Acceptor Bind(const ServerOptions& options, const Tcp::endpoint& endpoint, IoExecutor executor) {
  try {
    Acceptor acceptor(executor, endpoint.protocol());
    acceptor.set_option(Acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(Acceptor::max_listen_connections);
    return acceptor;
  } catch (const boost::system::system_error& error) {
    throw base::UserError(
        fmt::format("cannot listen on {}: {}; choose another address with {} HOST:PORT",
                    Printed(options), error.code().message(), options.flag));
  }
}

Acceptor Open(const ServerOptions& options, bool loopback_only, IoExecutor executor) {
  const Tcp::endpoint endpoint = EndpointOf(options);
  if (loopback_only) RequireLoopback(options, endpoint);
  return Bind(options, endpoint, executor);
}

}  // namespace

Listener::Listener(ServerContext& context, std::vector<std::shared_ptr<Loop>> loops,
                   bool loopback_only)
    : context_(context),
      loops_(std::move(loops)),
      acceptor_(Open(context.options, loopback_only, loops_.front()->executor())),
      port_(acceptor_.local_endpoint().port()) {}

void Listener::Start() {
  loops_.front()->OnSweep([this] {
    if (paused_) Accept();
  });
  Accept();
}

void Listener::Close() {
  ErrorCode ignored;
  acceptor_.close(ignored);
  paused_ = false;
}

void Listener::Accept() {
  paused_ = false;
  const std::shared_ptr<Loop>& loop = loops_[next_loop_];
  next_loop_ = (next_loop_ + 1) % loops_.size();
  acceptor_.async_accept(loop->executor(), [this, loop](const ErrorCode& error, Socket socket) {
    OnAccepted(error, std::move(socket), loop);
  });
}

void Listener::OnAccepted(const ErrorCode& error, Socket socket,
                          const std::shared_ptr<Loop>& loop) {
  if (!acceptor_.is_open()) return;
  if (error == asio::error::connection_aborted) return Accept();
  if (error) {
    base::LogWarn("http.accept", "no connection can be accepted for now",
                  {{"error", error.message()}});
    paused_ = true;
    return;
  }
  ConnectionSlot slot(context_);
  if (slot.full()) {
    TurnAway(std::move(socket));
  } else {
    loop->Post([this, loop, socket = std::move(socket), slot = std::move(slot)]() mutable {
      if (loop->stopping()) return;
      std::make_shared<Connection>(std::move(socket), std::move(slot), loop, context_)->Start();
    });
  }
  Accept();
}

/// Nothing is read and nothing is kept for a client that is one too many; with TLS nothing can be
/// said either, without the work of a handshake.
void Listener::TurnAway(Socket socket) {
  context_.probe.Rejected(Rejection::kConnections);
  if (context_.options.certificate) return;
  const std::string id = base::Uuid::V7(loops_.front()->clock().WallMs()).ToString();
  std::string answer;
  AppendResponse(answer,
                 ToResponse(ToProblem(Rejection::kConnections, "Try again in a moment."), id),
                 {.request_id = id, .date = loops_.front()->date(), .close = true});
  ErrorCode ignored;
  std::array<char, 4'096> unread;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(answer), ignored);
  socket.shutdown(Socket::shutdown_send, ignored);
  socket.read_some(asio::buffer(unread), ignored);  // unread bytes would reset the connection
}

}  // namespace tenure::http
