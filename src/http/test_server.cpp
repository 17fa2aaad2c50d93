#include "http/test_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <future>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr int kPatienceSeconds = 20;
constexpr std::size_t kLargeBytes = 8 * 1024 * 1024;

ServerOptions ForTests(ServerOptions options, const TestCertificate* certificate) {
  options.certificate = certificate ? &certificate->keeper() : nullptr;
  options.port = 0;
  options.sweep_interval_ms = 2;
  return options;
}

Response Text(std::string body) { return {.body = std::move(body), .content_type = "text/plain"}; }

}  // namespace

std::string RawAnswer::Header(std::string_view name) const {
  std::string_view rest = head;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(rest.size(), line.size() + 2));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && EqualsNoCase(line.substr(0, colon), name))
      return std::string(Trim(line.substr(colon + 1)));
  }
  return {};
}

std::string ToText(Transport transport) { return transport == Transport::kPlain ? "Plain" : "Tls"; }

RawClient::RawClient(std::uint16_t port, const support::TlsClientOptions* tls)
    : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw std::runtime_error("the test server does not listen");
  if (tls) tls_.emplace(socket_, *tls);
}

RawClient::~RawClient() { Close(); }

void RawClient::Close() {
  tls_.reset();
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void RawClient::HalfClose() { ::shutdown(socket_, SHUT_WR); }

void RawClient::Send(std::string_view bytes) {
  if (tls_) {
    if (!bytes.empty()) tls_->Write(bytes);
    return;
  }
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// 0 at the end.
std::size_t RawClient::Receive(char* bytes, std::size_t size) {
  if (tls_) {
    const auto read = tls_->Read(bytes, size);
    if (!read) throw std::runtime_error("the server does not answer");
    return *read;
  }
  const ssize_t read = ::recv(socket_, bytes, size, 0);
  if (read < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    throw std::runtime_error("the server does not answer");
  return read <= 0 ? 0 : static_cast<std::size_t>(read);
}

/// Returns whether there was more.
bool RawClient::Fill() {
  char piece[16 * 1024];
  const std::size_t size = Receive(piece, sizeof(piece));
  input_.append(piece, size);
  return size > 0;
}

std::string RawClient::TakeHead() {
  std::size_t end = 0;
  while ((end = input_.find("\r\n\r\n")) == std::string::npos)
    if (!Fill()) throw std::runtime_error("the server hung up before an answer: " + input_);
  std::string head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  return head;
}

RawAnswer RawClient::ReadHead() {
  RawAnswer answer{.head = TakeHead(), .body = {}};
  std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
  return answer;
}

RawAnswer RawClient::Read() {
  RawAnswer answer = ReadHead();
  const std::string length = answer.Header("Content-Length");
  const std::size_t size = length.empty() ? 0 : std::stoul(length);
  while (input_.size() < size)
    if (!Fill()) throw std::runtime_error("the server hung up inside an answer");
  answer.body = input_.substr(0, size);
  input_.erase(0, size);
  return answer;
}

bool RawClient::AtEnd() { return input_.empty() && !Fill(); }

std::size_t RawClient::CountToEnd() {
  std::size_t count = input_.size();
  input_.clear();
  while (Fill()) {
    count += input_.size();
    input_.clear();
  }
  return count;
}

void HeldExchanges::Put(ExchangePtr exchange) {
  const std::lock_guard lock(mutex_);
  held_.push_back(std::move(exchange));
  changed_.notify_all();
}

ExchangePtr HeldExchanges::Take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !held_.empty(); });
  ExchangePtr exchange = std::move(held_.front());
  held_.pop_front();
  return exchange;
}

TestCertificate::TestCertificate() : keeper_(Write({}), base::SystemClock(), metrics_) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes also to a client that has hung up
  support::ReplaceFile(CaFile(), authority_.pem());
}

CertificateFiles TestCertificate::Write(const support::CertificateOptions& options) {
  const support::Certificate made = authority_.Issue(options);
  const CertificateFiles files{.certificate = folder_ / "certificate.pem",
                               .key = folder_ / "key.pem"};
  support::ReplaceFile(files.certificate, made.certificate);
  support::ReplaceFile(files.key, made.key);
  return files;
}

std::int64_t TestCertificate::Renew(const support::CertificateOptions& made) {
  keeper_.Use(Write(made));
  keeper_.Step();
  return authority_.last_serial();
}

TestServer::TestServer(Transport transport, ServerOptions server_options,
                       Authenticator authenticator)
    : certificate(transport == Transport::kTls ? std::make_unique<TestCertificate>() : nullptr),
      options(ForTests(server_options, certificate.get())),
      server((AddRoutes(), options), router, registry, clock, std::move(authenticator)) {
  server.Start();
}

RawClient TestServer::Connect() {
  if (!certificate) return ConnectPlain();
  const support::TlsClientOptions trusting = certificate->Trusting();
  return RawClient(server.port(), &trusting);
}

void TestServer::AddRoutes() {
  const auto add = [this](Method method, std::string pattern, std::string operation,
                          Handler handler, std::string scope = kPublic) {
    router.Add({method, std::move(pattern), std::move(operation), std::move(scope),
                [this, handler = std::move(handler)](const ExchangePtr& exchange) {
                  {
                    const std::lock_guard lock(mutex_);
                    last_loop_ = &exchange->executor();
                  }
                  handler(exchange);
                }});
  };
  add(Method::kGet, "/hello", "getHello", [](const ExchangePtr& x) { x->Reply(Text("hello")); });
  add(Method::kPut, "/echo", "putEcho",
      [](const ExchangePtr& x) { x->Reply(Text(std::string(x->request().body))); });
  add(Method::kPost, "/act", "postAct",
      [](const ExchangePtr& x) { x->Reply(Response{.status = 204}); });
  add(Method::kGet, "/held", "getHeld", [this](const ExchangePtr& x) { held.Put(x); });
  add(Method::kGet, "/forgets", "getForgets", [](const ExchangePtr&) {});
  add(Method::kGet, "/large", "getLarge",
      [](const ExchangePtr& x) { x->Reply(Text(std::string(kLargeBytes, 'x'))); });
  add(Method::kGet, "/items/{id}", "getItem",
      [](const ExchangePtr& x) { x->Reply(Text(x->request().path_parameters.at(0))); });
  add(
      Method::kGet, "/guarded", "getGuarded",
      [](const ExchangePtr& x) { x->Reply(Text(x->request().principal->person)); },
      "sessions:read");
  add(Method::kGet, "/throws/{what}", "getThrows", [](const ExchangePtr& x) {
    const std::string& what = x->request().path_parameters.at(0);
    if (what == "problem") throw ProblemError(NotFound("gone fishing"));
    if (what == "fault") throw base::Fault(base::FaultKind::kOverloaded, "table secrets is full");
    if (what == "statement")
      throw base::Fault(base::FaultKind::kStatement, "table secrets is full");
    throw std::runtime_error("table secrets is full");
  });
}

void TestServer::Settle() {
  base::Executor* loop = nullptr;
  {
    const std::lock_guard lock(mutex_);
    loop = last_loop_;
  }
  RunOn(*loop, [] {});
}

void TestServer::AwaitMetric(std::string_view line) {
  const std::string wanted = fmt::format("\n{}\n", line);
  for (std::int64_t start_us = base::MeasureMicros(); Metrics().find(wanted) == std::string::npos;
       std::this_thread::yield())
    if (base::MeasureMicros() - start_us > kPatienceSeconds * 1'000'000)
      throw std::runtime_error(fmt::format("never: {}\n{}", line, Metrics()));
}

void RunOn(base::Executor& executor, base::Task task) {
  std::promise<void> done;
  executor.Post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

std::string Get(std::string_view path, std::string_view headers) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path, headers);
}

std::string Put(std::string_view path, std::string_view body, std::string_view headers) {
  return fmt::format(
      "PUT {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\n{}\r\n{}",
      path, body.size(), headers, body);
}

}  // namespace tenure::http
