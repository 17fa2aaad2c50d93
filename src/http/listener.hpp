#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "http/asio.hpp"
#include "http/loop.hpp"
#include "http/server_context.hpp"

namespace tenure::http {

/// The listening socket: accepts on the first loop and hands the sockets out to all loops in turn.
/// Beyond `max_connections` a client is told 503 (in plain HTTP) and is closed at once.
///
/// Threads: constructed before the loops run; `Start` and `Close` on the first loop's thread.
class Listener {
 public:
  /// Binds. Throws base::UserError when the address is not to be had; when `loopback_only`, also
  /// when it could be reached from another machine.
  Listener(ServerContext& context, std::vector<std::shared_ptr<Loop>> loops, bool loopback_only);

  std::uint16_t port() const { return port_; }
  void Start();
  void Close();

 private:
  void Accept();
  void OnAccepted(const ErrorCode& error, Socket socket, const std::shared_ptr<Loop>& loop);
  void TurnAway(Socket socket);

  ServerContext& context_;
  const std::vector<std::shared_ptr<Loop>> loops_;
  std::size_t next_loop_ = 0;
  Acceptor acceptor_;
  std::uint16_t port_ = 0;
  bool paused_ = false;  // no descriptor was to be had; the sweep tries again
};

}  // namespace tenure::http
