#include "support/raw_http.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "support/system_call.hpp"

namespace tenure::support {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

const std::string* Find(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [key, value] : headers)
    if (SameName(key, name)) return &value;
  return nullptr;
}

[[noreturn]] void Malformed(const std::string& what, std::string_view text) {
  throw std::runtime_error("malformed response: " + what + ": '" + std::string(text) + "'");
}

std::size_t ParseSize(std::string_view text, int base) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    Malformed("size", text);
  return size;
}

/// "HTTP/1.1 200 OK"
void ParseStatusLine(std::string_view line, HttpResponse& response) {
  if (line.size() < 12 || !line.starts_with("HTTP/1.1 ") || (line.size() > 12 && line[12] != ' '))
    Malformed("status line", line);
  response.status = static_cast<int>(ParseSize(line.substr(9, 3), 10));
  if (line.size() > 13) response.reason = line.substr(13);
}

void ParseHeader(std::string_view line, HttpResponse& response) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) Malformed("header", line);
  auto value = line.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  response.headers.emplace_back(line.substr(0, colon), value);
}

bool HasNoBody(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

std::optional<std::string> HttpResponse::FindHeader(std::string_view name) const {
  const auto* found = Find(headers, name);
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

HttpConnection::HttpConnection(int port, std::chrono::milliseconds timeout,
                               const TlsClientOptions* tls)
    : port_(port), timeout_(timeout) {
  fd_ = Checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  // Bounds connect(), send() and what TLS reads; reading plain has its own poll().
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timeval limit{
      static_cast<time_t>(seconds.count()),
      static_cast<suseconds_t>(std::chrono::microseconds(timeout - seconds).count())};
  setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int error = errno;
    close(fd_);
    errno = error;
    ThrowErrno("connect to 127.0.0.1:" + std::to_string(port));
  }
  if (tls) tls_.emplace(fd_, *tls);
}

HttpConnection::~HttpConnection() { Close(); }

void HttpConnection::Close() {
  tls_.reset();
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

HttpConnection::HttpConnection(HttpConnection&& other) noexcept
    : port_(other.port_),
      timeout_(other.timeout_),
      fd_(std::exchange(other.fd_, -1)),
      tls_(std::move(other.tls_)),
      buffer_(std::move(other.buffer_)) {}

void HttpConnection::Send(std::string_view bytes) {
  if (tls_ && !bytes.empty()) {
    tls_->Write(bytes);
    return;
  }
  while (!bytes.empty()) {
    const auto sent = Checked(send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), "send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void HttpConnection::HalfClose() { Checked(shutdown(fd_, SHUT_WR), "shutdown"); }

void HttpConnection::Reset() {
  const linger at_once{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(std::exchange(fd_, -1));
}

bool HttpConnection::Fill() {
  char bytes[16 * 1024];
  if (tls_) {
    const auto read = tls_->Read(bytes, sizeof bytes);
    if (!read) throw std::runtime_error("no answer in time; received so far: '" + buffer_ + "'");
    buffer_.append(bytes, *read);
    return *read > 0;
  }
  pollfd waiting{fd_, POLLIN, 0};
  const int ready = poll(&waiting, 1, static_cast<int>(timeout_.count()));
  if (ready < 0 && errno == EINTR) return Fill();
  if (Checked(ready, "poll") == 0)
    throw std::runtime_error("no answer in time; received so far: '" + buffer_ + "'");
  const auto size = Checked(recv(fd_, bytes, sizeof bytes, 0), "recv");
  buffer_.append(bytes, static_cast<std::size_t>(size));
  return size > 0;
}

std::string HttpConnection::ReadLine() {
  auto end = buffer_.find("\r\n");
  while (end == std::string::npos) {
    if (!Fill()) throw std::runtime_error("connection closed inside a response: '" + buffer_ + "'");
    end = buffer_.find("\r\n");
  }
  auto line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

std::string HttpConnection::ReadExactly(std::size_t size) {
  while (buffer_.size() < size)
    if (!Fill()) throw std::runtime_error("connection closed inside a body: '" + buffer_ + "'");
  auto bytes = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return bytes;
}

std::string HttpConnection::ReadChunks() {
  std::string body;
  while (true) {
    const auto line = ReadLine();
    const auto size = ParseSize(std::string_view(line).substr(0, line.find(';')), 16);
    if (size == 0) break;
    body += ReadExactly(size);
    if (const auto end = ReadExactly(2); end != "\r\n") Malformed("end of chunk", end);
  }
  while (!ReadLine().empty()) {  // trailers
  }
  return body;
}

HttpResponse HttpConnection::ReadResponse(bool to_head) {
  HttpResponse response;
  ParseStatusLine(ReadLine(), response);
  for (auto line = ReadLine(); !line.empty(); line = ReadLine()) ParseHeader(line, response);
  if (to_head || HasNoBody(response.status)) return response;

  const auto* length = Find(response.headers, "Content-Length");
  const auto* encoding = Find(response.headers, "Transfer-Encoding");
  if (length != nullptr && encoding != nullptr)
    Malformed("both a length and an encoding", *encoding);
  if (encoding != nullptr && !SameName(*encoding, "chunked")) Malformed("encoding", *encoding);
  if (encoding != nullptr)
    response.body = ReadChunks();
  else if (length != nullptr)
    response.body = ReadExactly(ParseSize(*length, 10));
  else
    response.body = ReadUntilClose();
  return response;
}

std::string HttpConnection::ReadUntilClose() {
  try {
    while (Fill()) {
    }
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::connection_reset) throw;
  }
  return std::exchange(buffer_, {});
}

HttpResponse HttpConnection::Call(std::string_view method, std::string_view path,
                                  std::string_view body, const HttpHeaders& headers) {
  Send(FormatRequest(port_, method, path, body, headers));
  return ReadResponse(method == "HEAD");
}

std::string FormatRequest(int port, std::string_view method, std::string_view path,
                          std::string_view body, const HttpHeaders& headers) {
  std::string request;
  request.append(method).append(" ").append(path).append(" HTTP/1.1\r\n");
  const auto add = [&](std::string_view name, std::string_view value) {
    request.append(name).append(": ").append(value).append("\r\n");
  };
  const auto add_unless_given = [&](std::string_view name, std::string_view value) {
    if (Find(headers, name) == nullptr) add(name, value);
  };
  add_unless_given("Host", "127.0.0.1:" + std::to_string(port));
  if (!body.empty()) add_unless_given("Content-Type", "application/json");
  const bool is_write = method == "POST" || method == "PUT" || method == "PATCH";
  if ((!body.empty() || is_write) && Find(headers, "Transfer-Encoding") == nullptr)
    add_unless_given("Content-Length", std::to_string(body.size()));
  for (const auto& [name, value] : headers) add(name, value);
  return request.append("\r\n").append(body);
}

HttpResponse Call(int port, std::string_view method, std::string_view path, std::string_view body,
                  const HttpHeaders& headers) {
  return HttpConnection(port).Call(method, path, body, headers);
}

}  // namespace tenure::support
