#include "client/redis/wire.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/ip.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {
namespace {

constexpr std::size_t kChunkBytes = 16UL * 1024;

std::string SystemText(int error) { return std::generic_category().message(error); }

/// OpenSSL's last words.
std::string TlsText() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "the connection ended" : reason;
}

bool IsAddress(const std::string& host) { return base::IpAddress::Parse(host).has_value(); }

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses Resolve(const RedisAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int result = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (result != 0) throw WireError(fmt::format("{}: {}", address.host, gai_strerror(result)));
  return Addresses(found);
}

}  // namespace

// ---- TLS

void WireTls::Deleter::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

std::unique_ptr<WireTls> WireTls::For(const RedisAddress& address) {
  if (!address.tls) return nullptr;
  return std::unique_ptr<WireTls>(new WireTls(address));
}

WireTls::WireTls(const RedisAddress& address) : context_(SSL_CTX_new(TLS_client_method())) {
  SSL_CTX* const raw = context_.get();
  if (raw == nullptr) throw WireError("OpenSSL has no memory");
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
  ERR_clear_error();
  const auto demand = [](bool done, std::string_view what, const std::string& file) {
    if (!done) throw std::invalid_argument(fmt::format("{} {}: {}", what, file, TlsText()));
  };
  if (address.ca_file.empty())
    demand(SSL_CTX_set_default_verify_paths(raw) == 1, "the system's certificates", "");
  else
    demand(SSL_CTX_load_verify_file(raw, address.ca_file.c_str()) == 1, "ca_file", address.ca_file);
  if (address.cert_file.empty()) return;
  demand(SSL_CTX_use_certificate_chain_file(raw, address.cert_file.c_str()) == 1, "cert_file",
         address.cert_file);
  demand(SSL_CTX_use_PrivateKey_file(raw, address.key_file.c_str(), SSL_FILETYPE_PEM) == 1 &&
             SSL_CTX_check_private_key(raw) == 1,
         "key_file", address.key_file);
}

ssl_st* WireTls::NewSession(const std::string& host) const {
  SSL* const session = SSL_new(context_.get());
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  if (session == nullptr || in == nullptr || out == nullptr)
    throw WireError("OpenSSL has no memory");
  SSL_set_bio(session, in, out);
  SSL_set_connect_state(session);
  if (IsAddress(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str());
  } else {
    SSL_set1_host(session, host.c_str());
    std::string name = host;  // what SSL_set_tlsext_host_name does, with a cast of C's
    SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
  }
  return session;
}

void Wire::Deleter::operator()(ssl_st* session) const { SSL_free(session); }

// ---- the socket

Wire::Wire(const RedisAddress& address, const WireTls* tls, int cancel_fd, std::int64_t until_ms)
    : cancel_fd_(cancel_fd) {
  Connect(address, until_ms);
  if (tls == nullptr) return;
  session_.reset(tls->NewSession(address.host));
  Handshake(until_ms);
}

Wire::~Wire() = default;

Wire::Ready Wire::Await(short events, std::int64_t until_ms) const {
  while (true) {
    const std::int64_t left_ms = until_ms - BootClock().NowMs();
    std::array<pollfd, 2> polled{{{.fd = cancel_fd_, .events = POLLIN, .revents = 0},
                                  {.fd = socket_.get(), .events = events, .revents = 0}}};
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 60'000));
    const int ready = ::poll(polled.data(), polled.size(), timeout);
    if (ready < 0 && errno != EINTR) throw WireError(SystemText(errno));
    if (polled[0].revents != 0) throw WireError("the call was cancelled");
    if (polled[1].revents != 0) return Ready::kYes;
    if (left_ms <= 0) return Ready::kTimedOut;
  }
}

void Wire::Connect(const RedisAddress& address, std::int64_t until_ms) {
  if (!address.socket_path.empty()) {
    sockaddr_un path{};
    path.sun_family = AF_UNIX;
    if (address.socket_path.size() >= sizeof path.sun_path)
      throw WireError("the path of the socket is too long");
    address.socket_path.copy(path.sun_path, sizeof path.sun_path - 1);
    if (!ConnectTo(AF_UNIX, &path, sizeof path, until_ms))
      throw WireError(fmt::format("{}: {}", address.socket_path, SystemText(errno)));
    return;
  }
  const Addresses found = Resolve(address);
  for (const addrinfo* one = found.get(); one != nullptr; one = one->ai_next)
    if (ConnectTo(one->ai_family, one->ai_addr, one->ai_addrlen, until_ms)) return;
  throw WireError(fmt::format("{}:{}: {}", address.host, address.port, SystemText(errno)));
}

bool Wire::ConnectTo(int family, const void* address, std::uint32_t size, std::int64_t until_ms) {
  socket_ = leases::Descriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket_.get() < 0) return false;
  const int on = 1;
  if (family != AF_UNIX) ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket_.get(), static_cast<const sockaddr*>(address), size) == 0) return true;
  if (errno != EINPROGRESS) return false;
  if (Await(POLLOUT, until_ms) == Ready::kTimedOut) {
    errno = ETIMEDOUT;
    return false;
  }
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0;
}

void Wire::Handshake(std::int64_t until_ms) {
  while (true) {
    ERR_clear_error();
    const int result = SSL_do_handshake(session_.get());
    const int wants = SSL_get_error(session_.get(), result);
    const std::string words = result == 1 || wants == SSL_ERROR_WANT_READ ? "" : TlsText();
    const long verified = SSL_get_verify_result(session_.get());
    Flush(until_ms);
    if (result == 1) return;
    if (wants != SSL_ERROR_WANT_READ)
      throw WireError(fmt::format(
          "no TLS: {}", verified == X509_V_OK ? words : X509_verify_cert_error_string(verified)));
    if (!Pump() && Await(POLLIN, until_ms) == Ready::kTimedOut) throw WireError("no TLS in time");
  }
}

void Wire::SendRaw(std::string_view bytes, std::int64_t until_ms) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      anything_sent = true;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      throw WireError(SystemText(errno));
    } else if (Await(POLLOUT, until_ms) == Ready::kTimedOut) {
      throw WireError("it takes no more bytes");
    }
  }
}

void Wire::Flush(std::int64_t until_ms) {
  std::array<char, kChunkBytes> chunk;
  BIO* const out = SSL_get_wbio(session_.get());
  int size = 0;
  while ((size = BIO_read(out, chunk.data(), static_cast<int>(chunk.size()))) > 0)
    SendRaw({chunk.data(), static_cast<std::size_t>(size)}, until_ms);
}

ssize_t Wire::ReceiveRaw(char* bytes, std::size_t size) const {
  while (true) {
    const ssize_t got = ::recv(socket_.get(), bytes, size, 0);
    if (got >= 0) return got;
    if (errno == EAGAIN) return -1;
    if (errno != EINTR) throw WireError(SystemText(errno));
  }
}

bool Wire::Pump() {
  std::array<char, kChunkBytes> chunk;
  const ssize_t got = ReceiveRaw(chunk.data(), chunk.size());
  if (got == 0) throw WireError("it hung up");
  if (got < 0) return false;
  if (BIO_write(SSL_get_rbio(session_.get()), chunk.data(), static_cast<int>(got)) != got)
    throw WireError("OpenSSL has no memory");
  return true;
}

void Wire::Send(std::string_view bytes, std::int64_t until_ms) {
  if (!session_) return SendRaw(bytes, until_ms);
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kChunkBytes);
    std::size_t written = 0;
    ERR_clear_error();
    if (SSL_write_ex(session_.get(), bytes.data(), size, &written) != 1)
      throw WireError(fmt::format("TLS: {}", TlsText()));
    bytes.remove_prefix(written);
    Flush(until_ms);
  }
}

bool Wire::Receive(std::string& bytes, std::int64_t until_ms) {
  std::array<char, kChunkBytes> chunk;
  while (true) {
    if (session_) {
      std::size_t got = 0;
      ERR_clear_error();
      const int result = SSL_read_ex(session_.get(), chunk.data(), chunk.size(), &got);
      if (result == 1) {
        bytes.append(chunk.data(), got);
        return true;
      }
      const int wants = SSL_get_error(session_.get(), result);
      if (wants == SSL_ERROR_ZERO_RETURN) throw WireError("it hung up");
      if (wants != SSL_ERROR_WANT_READ) throw WireError(fmt::format("TLS: {}", TlsText()));
      Flush(until_ms);  // an update of the keys asks for an answer
      if (Pump()) continue;
    } else {
      const ssize_t got = ReceiveRaw(chunk.data(), chunk.size());
      if (got == 0) throw WireError("it hung up");
      if (got > 0) {
        bytes.append(chunk.data(), static_cast<std::size_t>(got));
        return true;
      }
    }
    if (Await(POLLIN, until_ms) == Ready::kTimedOut) return false;
  }
}

bool Wire::IsStale() {
  std::string unasked;
  try {
    return Receive(unasked, 0);  // what TLS says to itself is taken in on the way
  } catch (const WireError&) {
    return true;
  }
}

}  // namespace tenure::client
