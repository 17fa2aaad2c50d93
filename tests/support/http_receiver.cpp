#include "support/http_receiver.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <stdexcept>
#include <utility>

#include "support/system_call.hpp"

namespace tenure::support {
namespace {

[[noreturn]] void Malformed(std::string_view text) {
  throw std::runtime_error("malformed request: '" + std::string(text) + "'");
}

/// "POST /v1/traces HTTP/1.1"
void ParseRequestLine(std::string_view line, ReceivedRequest& request) {
  constexpr std::string_view kVersion = " HTTP/1.1";
  const auto space = line.find(' ');
  if (space == std::string_view::npos || !line.ends_with(kVersion)) Malformed(line);
  request.method = line.substr(0, space);
  request.target = line.substr(space + 1, line.size() - kVersion.size() - space - 1);
  if (!request.target.starts_with('/') || request.target.find(' ') != std::string::npos)
    Malformed(line);
}

void ParseHeader(std::string_view line, ReceivedRequest& request) {
  const auto colon = line.find(':');
  const bool empty = colon + 1 == line.size();
  if (colon == std::string_view::npos || colon == 0 || (!empty && line[colon + 1] != ' '))
    Malformed(line);
  request.headers.emplace_back(line.substr(0, colon), empty ? "" : line.substr(colon + 2));
}

ReceivedRequest ParseHead(std::string_view head) {
  ReceivedRequest request;
  ParseRequestLine(head.substr(0, head.find("\r\n")), request);
  while (true) {
    const auto end = head.find("\r\n");
    if (end == std::string_view::npos) return request;
    head.remove_prefix(end + 2);
    ParseHeader(head.substr(0, head.find("\r\n")), request);
  }
}

std::size_t LengthOf(const ReceivedRequest& request) {
  // A GET has no body, and so need not say how long it is.
  const std::string text =
      request.FindHeader("Content-Length").value_or(request.method == "GET" ? "0" : "none");
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size()) Malformed("length " + text);
  return length;
}

}  // namespace

std::optional<std::string> ReceivedRequest::FindHeader(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : headers) {
    if (key.size() != name.size() || strncasecmp(key.data(), name.data(), name.size()) != 0)
      continue;
    if (found) Malformed("two headers " + key);
    found = value;
  }
  return found;
}

HttpReceiver::HttpReceiver(std::chrono::milliseconds timeout) : timeout_(timeout) {
  listener_ = Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  Checked(bind(listener_, any, size), "bind");
  Checked(listen(listener_, 16), "listen");
  Checked(getsockname(listener_, any, &size), "getsockname");
  port_ = ntohs(address.sin_port);
}

HttpReceiver::~HttpReceiver() {
  HangUp();
  if (listener_ >= 0) close(listener_);
}

void HttpReceiver::HangUp() {
  if (connection_ >= 0) close(std::exchange(connection_, -1));
  buffer_.clear();
}

ReceivedRequest HttpReceiver::Next() {
  while (true) {
    if (auto request = TakeRequest()) return std::move(*request);
    Receive();
  }
}

std::optional<ReceivedRequest> HttpReceiver::TakeRequest() {
  const auto head_end = buffer_.find("\r\n\r\n");
  if (head_end == std::string::npos) return std::nullopt;
  ReceivedRequest request = ParseHead(std::string_view(buffer_).substr(0, head_end));
  const std::size_t body_at = head_end + 4;
  const std::size_t length = LengthOf(request);
  if (buffer_.size() < body_at + length) return std::nullopt;
  request.body = buffer_.substr(body_at, length);
  buffer_.erase(0, body_at + length);
  return request;
}

void HttpReceiver::Receive() {
  // The connection that there is comes first: poll leaves out one that is -1.
  pollfd waiting[] = {{connection_, POLLIN, 0}, {listener_, POLLIN, 0}};
  const int ready = poll(waiting, 2, static_cast<int>(timeout_.count()));
  if (ready < 0 && errno == EINTR) return;
  if (Checked(ready, "poll") == 0)
    throw std::runtime_error("no request in time; received so far: '" + buffer_ + "'");
  if (waiting[0].revents == 0) {
    HangUp();
    connection_ = Checked(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), "accept");
    return;
  }
  char bytes[16 * 1024];
  const auto size = recv(connection_, bytes, sizeof bytes, 0);
  if (size <= 0) return HangUp();
  buffer_.append(bytes, static_cast<std::size_t>(size));
}

void HttpReceiver::Answer(int status, std::string_view body) {
  const std::string answer = "HTTP/1.1 " + std::to_string(status) +
                             " Answer\r\nContent-Type: application/json\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
  if (send(connection_, answer.data(), answer.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(answer.size()))
    throw std::runtime_error("the answer was not taken");
}

void HttpReceiver::Say(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool HttpReceiver::AtEnd() {
  pollfd waiting{connection_, POLLIN, 0};
  char byte = 0;
  return poll(&waiting, 1, static_cast<int>(timeout_.count())) == 1 &&
         recv(connection_, &byte, 1, 0) <= 0;
}

}  // namespace tenure::support
