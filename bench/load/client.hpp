#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol.hpp"

namespace bench {

std::int64_t NowNanos();

/// Many keep-alive connections (HTTP/1.1 unless told) to one port of this machine, one request at a
/// time on each, all on the calling thread. A connection that breaks is made anew.
class Client {
 public:
  /// Hears of each answer; may send the next request on that connection.
  using OnAnswer = std::function<void(std::size_t connection, const Answer& answer)>;

  Client(std::uint16_t port, std::size_t connections, OnAnswer on_answer,
         Parser parser = ParseHttp);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  std::size_t size() const { return connections_.size(); }
  std::size_t busy() const { return busy_; }

  /// REQUIRES: the connection's last request was answered.
  void Send(std::size_t connection, std::string_view request);

  /// Takes what has come in, and waits at most this long for something.
  void Poll(int timeout_ms) { PollFor(timeout_ms * std::int64_t{1'000'000}); }
  void PollFor(std::int64_t nanos);

 private:
  struct Connection {
    int socket = -1;
    bool waiting = false;
    std::string input;
    std::string output;  // what the socket would not take at once
  };

  void Connect(std::size_t index);
  void Break(std::size_t index);
  void Read(std::size_t index);
  void Write(std::size_t index);
  void Watch(std::size_t index, bool writable);

  const std::uint16_t port_;
  const OnAnswer on_answer_;
  const Parser parser_;
  int poller_;
  std::vector<Connection> connections_;
  std::size_t busy_ = 0;
  std::string scratch_;
};

}  // namespace bench
