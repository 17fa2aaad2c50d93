#include "support/tls_receiver.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

namespace tenure::support {
namespace {

constexpr auto kPatience = std::chrono::seconds(30);

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

/// A request whose bytes have come whole; takes them off the buffer.
std::optional<ReceivedRequest> TakeWhole(std::string& buffer) {
  const std::size_t end = buffer.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  ReceivedRequest request;
  std::size_t length = 0;
  std::size_t at = 0;
  for (bool first = true; at < end; first = false) {
    const std::size_t stop = buffer.find("\r\n", at);
    const std::string line = buffer.substr(at, stop - at);
    at = stop + 2;
    if (first) {
      request.method = line.substr(0, line.find(' '));
      const std::size_t target = request.method.size() + 1;
      request.target = line.substr(target, line.find(' ', target) - target);
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string value = line.substr(std::min(line.size(), colon + 2));
    if (line.starts_with("Content-Length")) length = std::stoul(value);
    request.headers.emplace_back(line.substr(0, colon), value);
  }
  if (buffer.size() < end + 4 + length) return std::nullopt;
  request.body = buffer.substr(end + 4, length);
  buffer.erase(0, end + 4 + length);
  return request;
}

}  // namespace

std::string TlsReceiver::Http(int status, std::string_view headers, std::string_view body) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Status\r\n";
  text += headers;
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  text += body;
  return text;
}

TlsReceiver::TlsReceiver(Authority& authority, Answer answer, const CertificateOptions& certificate)
    : answer_(std::move(answer)) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes also to who has hung up
  context_ = SSL_CTX_new(TLS_server_method());
  const Certificate pem = authority.Issue(certificate);
  const std::unique_ptr<BIO, decltype(&BIO_free)> text(
      BIO_new_mem_buf(pem.certificate.data(), static_cast<int>(pem.certificate.size())), BIO_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> key_text(
      BIO_new_mem_buf(pem.key.data(), static_cast<int>(pem.key.size())), BIO_free);
  X509* const own = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context_, own);
  SSL_CTX_use_PrivateKey(context_, key);
  X509_free(own);
  EVP_PKEY_free(key);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 1'024) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("a receiver has no port");
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

TlsReceiver::~TlsReceiver() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
    changed_.notify_all();
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
  SSL_CTX_free(context_);
}

std::string TlsReceiver::Url(std::string_view path) const {
  return "https://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

std::vector<ReceivedRequest> TlsReceiver::Received() const {
  const std::lock_guard lock(mutex_);
  return received_;
}

std::vector<ReceivedRequest> TlsReceiver::WaitFor(std::size_t count) const {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, [&] { return received_.size() >= count; }))
    throw std::runtime_error("only " + std::to_string(received_.size()) + " requests came");
  return received_;
}

std::size_t TlsReceiver::most_at_once() const {
  const std::lock_guard lock(mutex_);
  return most_at_once_;
}

std::size_t TlsReceiver::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

void TlsReceiver::Accept() {
  while (true) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::lock_guard lock(mutex_);
    if (socket < 0 || stopping_) {
      if (socket >= 0) ::close(socket);
      return;
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockets_.insert(socket);
    ++connections_;
    threads_.emplace_back([this, socket] { Serve(socket); });
  }
}

void TlsReceiver::Serve(int socket) {
  const std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context_));
  SSL_set_fd(ssl.get(), socket);
  std::string buffer;
  char bytes[16'384];
  bool goes_on = SSL_accept(ssl.get()) == 1;
  while (goes_on) {
    auto request = TakeWhole(buffer);
    if (!request) {
      const int got = SSL_read(ssl.get(), bytes, sizeof bytes);
      if (got <= 0) break;
      buffer.append(bytes, static_cast<std::size_t>(got));
      continue;
    }
    {
      const std::lock_guard lock(mutex_);
      received_.push_back(*request);
      most_at_once_ = std::max(most_at_once_, ++at_once_);
      changed_.notify_all();
    }
    const std::string answer = answer_(*request);
    std::unique_lock lock(mutex_);
    if (answer == kHang) {
      // Until the receiver goes, or the other side has hung up.
      lock.unlock();
      static_cast<void>(SSL_read(ssl.get(), bytes, sizeof bytes));
      lock.lock();
      goes_on = false;
    }
    --at_once_;
    changed_.notify_all();
    lock.unlock();
    if (!goes_on || answer == kReset) break;
    goes_on = SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size())) > 0;
  }
  const std::lock_guard lock(mutex_);
  sockets_.erase(socket);
  ::close(socket);
}

}  // namespace tenure::support
