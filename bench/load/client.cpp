#include "client.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "options.hpp"

namespace bench {
namespace {

void AllowManyFiles() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

std::int64_t NowNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

Client::Client(std::uint16_t port, std::size_t connections, OnAnswer on_answer, Parser parser)
    : port_(port), on_answer_(std::move(on_answer)), parser_(parser), poller_(epoll_create1(0)) {
  AllowManyFiles();
  connections_.resize(connections);
  for (std::size_t i = 0; i < connections; ++i) Connect(i);
}

Client::~Client() {
  for (const Connection& connection : connections_) close(connection.socket);
  close(poller_);
}

void Client::Connect(std::size_t index) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (socket < 0 ||
      connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    Die(fmt::format("cannot connect to port {}: {}", port_, strerror(errno)));
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  connections_[index].socket = socket;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = index;
  epoll_ctl(poller_, EPOLL_CTL_ADD, socket, &event);
}

void Client::Break(std::size_t index) {
  Connection& connection = connections_[index];
  close(connection.socket);
  connection.input.clear();
  connection.output.clear();
  Connect(index);
  if (!connection.waiting) return;
  connection.waiting = false;
  --busy_;
  on_answer_(index, {});
}

void Client::Send(std::size_t index, std::string_view request) {
  Connection& connection = connections_[index];
  connection.waiting = true;
  ++busy_;
  const ssize_t sent =
      send(connection.socket, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(request.size())) return;
  // The error, if it is one, shows again when the socket is polled.
  connection.output = request.substr(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  Watch(index, true);
}

void Client::PollFor(std::int64_t nanos) {
  std::array<epoll_event, 256> events;
  const timespec timeout{.tv_sec = nanos / 1'000'000'000, .tv_nsec = nanos % 1'000'000'000};
  const int count = epoll_pwait2(poller_, events.data(), events.size(), &timeout, nullptr);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto index = static_cast<std::size_t>(event.data.u64);
    if (event.events & EPOLLOUT) Write(index);
    if (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) Read(index);
  }
}

void Client::Write(std::size_t index) {
  Connection& connection = connections_[index];
  const ssize_t sent = send(connection.socket, connection.output.data(), connection.output.size(),
                            MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return;
  connection.output.erase(0, static_cast<std::size_t>(sent));
  if (connection.output.empty()) Watch(index, false);
}

void Client::Watch(std::size_t index, bool writable) {
  epoll_event event{};
  event.events = writable ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.u64 = index;
  epoll_ctl(poller_, EPOLL_CTL_MOD, connections_[index].socket, &event);
}

void Client::Read(std::size_t index) {
  std::array<char, 16'384> space;
  Connection& connection = connections_[index];
  const ssize_t got = recv(connection.socket, space.data(), space.size(), MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return Break(index);
  connection.input.append(space.data(), static_cast<std::size_t>(got));
  std::string taken = std::move(connection.input);
  connection.input.clear();
  const Parsed parsed = parser_(taken, scratch_);
  if (parsed.size == 0) {
    connection.input = std::move(taken);
    return;
  }
  connection.waiting = false;
  --busy_;
  on_answer_(index, parsed.answer);
}

}  // namespace bench
