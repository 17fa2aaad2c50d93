#include "http/test_server.hpp"

#include <chrono>
#include <csignal>
#include <future>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace tenure::http {
namespace {

constexpr int kPatienceSeconds = 20;
constexpr std::size_t kMediumBytes = 64 * 1024;
constexpr std::size_t kLargeBytes = 8 * 1024 * 1024;

ServerOptions ForTests(ServerOptions options, const TestCertificate* certificate) {
  options.certificate = certificate ? &certificate->keeper() : nullptr;
  options.port = 0;
  options.sweep_interval_ms = 2;
  return options;
}

Response Text(std::string body) { return {.body = std::move(body), .content_type = "text/plain"}; }

}  // namespace

void HeldExchanges::Put(ExchangePtr exchange) {
  const std::lock_guard lock(mutex_);
  held_.push_back(std::move(exchange));
  changed_.notify_all();
}

ExchangePtr HeldExchanges::Take() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, std::chrono::seconds(kPatienceSeconds),
                         [this] { return !held_.empty(); }))
    throw std::runtime_error("no request came that waits");
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

std::string TestServer::Url(std::string_view path) const {
  return fmt::format("{}://127.0.0.1:{}{}", certificate ? "https" : "http", server.port(), path);
}

RawClient TestServer::Connect() {
  if (!certificate) return ConnectPlain();
  const support::TlsClientOptions trusting = certificate->Trusting();
  return Connect(&trusting);
}

RawClient TestServer::Connect(const support::TlsClientOptions* tls) {
  return RawClient(server.port(), std::chrono::seconds(kPatienceSeconds), tls);
}

void TestServer::AddRoutes() {
  const auto add = [this](Method method, std::string pattern, std::string operation,
                          Handler handler, std::string scope = kPublic,
                          std::string rate_class = "") {
    router.Add({.method = method,
                .pattern = std::move(pattern),
                .operation = std::move(operation),
                .scope = std::move(scope),
                .handler =
                    [this, handler = std::move(handler)](const ExchangePtr& exchange) {
                      {
                        const std::lock_guard lock(mutex_);
                        last_loop_ = &exchange->executor();
                        served_.emplace_back(exchange->request().path);
                      }
                      handler(exchange);
                    },
                .rate_class = std::move(rate_class)});
  };
  add(
      Method::kGet, "/hello", "getHello", [](const ExchangePtr& x) { x->Reply(Text("hello")); },
      kPublic, "none");
  add(Method::kPut, "/echo", "putEcho",
      [](const ExchangePtr& x) { x->Reply(Text(std::string(x->request().body))); });
  add(
      Method::kPost, "/act", "postAct",
      [](const ExchangePtr& x) { x->Reply(Response{.status = 204}); }, kPublic, "few");
  add(Method::kGet, "/held", "getHeld", [this](const ExchangePtr& x) { held.Put(x); });
  add(Method::kGet, "/forgets", "getForgets", [](const ExchangePtr&) {});
  add(Method::kGet, "/medium", "getMedium",
      [](const ExchangePtr& x) { x->Reply(Text(std::string(kMediumBytes, 'x'))); });
  add(Method::kGet, "/large", "getLarge",
      [](const ExchangePtr& x) { x->Reply(Text(std::string(kLargeBytes, 'x'))); });
  add(
      Method::kGet, "/items/{id}", "getItem",
      [](const ExchangePtr& x) { x->Reply(Text(x->request().path_parameters.at(0))); }, kPublic,
      "few");
  add(
      Method::kGet, "/guarded", "getGuarded",
      [](const ExchangePtr& x) { x->Reply(Text(x->request().principal->person)); }, "sessions:read",
      "few");
  add(
      Method::kPut, "/guarded", "putGuarded",
      [](const ExchangePtr& x) { x->Reply(Text(std::string(x->request().body))); },
      "sessions:read");
  router.Add(
      {.method = Method::kPut,
       .pattern = "/form",
       .operation = "putForm",
       .scope = kPublic,
       .handler = [](const ExchangePtr& x) { x->Reply(Text(std::string(x->request().body))); },
       .max_body_bytes = 100,
       .content_types = {"application/x-www-form-urlencoded", "text/plain"}});
  router.Add({.method = Method::kPost,
              .pattern = "/signed",
              .operation = "postSigned",
              .scope = kSigned,
              .handler =
                  [](const ExchangePtr& x) {
                    if (!x->request().body.starts_with("signed"))
                      throw ProblemError({.status = 401, .type = "bad-signature"});
                    CheckContentType(x->route(), x->request());
                    x->Reply(Text(std::string(x->request().body)));
                  },
              .rate_class = "few",
              .max_body_bytes = 70'000,
              .body_memory = std::make_shared<BodyMemory>(100'000),
              .admit =
                  [](const Request& request) {
                    if (request.FindHeader("X-Stranger"))
                      throw ProblemError({.status = 404, .type = "not-found"});
                  }});
  add(Method::kGet, "/throws/{what}", "getThrows", [](const ExchangePtr& x) {
    const std::string& what = x->request().path_parameters.at(0);
    if (what == "problem") throw ProblemError(NotFound("gone fishing"));
    if (what == "fault") throw base::Fault(base::FaultKind::kOverloaded, "table secrets is full");
    if (what == "statement")
      throw base::Fault(base::FaultKind::kStatement, "table secrets is full");
    throw std::runtime_error("table secrets is full");
  });
}

ExchangePtr TestServer::Hold(RawClient& client) {
  client.Send(Get("/held"));
  return held.Take();
}

void TestServer::Settle() {
  base::Executor* loop = nullptr;
  {
    const std::lock_guard lock(mutex_);
    loop = last_loop_;
  }
  RunOn(*loop, [] {});
}

std::vector<std::string> TestServer::Served() {
  const std::lock_guard lock(mutex_);
  return served_;
}

std::unique_ptr<std::promise<void>> TestServer::Halt() {
  auto release = std::make_unique<std::promise<void>>();
  std::promise<void> halted;
  const std::lock_guard lock(mutex_);
  last_loop_->Post([&halted, released = release->get_future().share()] {
    halted.set_value();
    released.wait();
  });
  halted.get_future().wait();
  return release;
}

void TestServer::AwaitMetric(std::string_view line) {
  const std::string wanted = fmt::format("\n{}\n", line);
  for (std::int64_t start_us = base::MeasureMicros(); Metrics().find(wanted) == std::string::npos;
       std::this_thread::yield())
    if (base::MeasureMicros() - start_us > kPatienceSeconds * 1'000'000)
      throw std::runtime_error(fmt::format("never: {}\n{}", line, Metrics()));
}

void AwaitPromise(std::promise<void>& promise) {
  if (promise.get_future().wait_for(std::chrono::seconds(kPatienceSeconds)) !=
      std::future_status::ready)
    throw std::runtime_error("what was promised did not come");
}

void RunOn(base::Executor& executor, base::Task task) {
  std::promise<void> done;
  executor.Post([&] {
    task();
    done.set_value();
  });
  AwaitPromise(done);
}

void Waiting::AskForGone() {
  RunOn(exchange->executor(), [this] {
    gone_ = {};
    exchange->OnClientGone([this, mark = callback_] {
      ++told;
      gone_.set_value();
    });
  });
}

void Waiting::AskForStopping() {
  RunOn(exchange->executor(), [this] {
    exchange->OnStopping([held = exchange] {
      held->Reply(base::Fault(base::FaultKind::kStopping, "this process is shutting down"));
    });
  });
}

void Waiting::Reply(std::string body) {
  RunOn(exchange->executor(), [&] { exchange->Reply({.body = body}); });
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
