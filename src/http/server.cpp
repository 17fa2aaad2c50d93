#include "http/server.hpp"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "http/listener.hpp"
#include "http/loop.hpp"
#include "http/server_context.hpp"

namespace tenure::http {

/// Loops, their threads and the listener, and the order in which they begin and end.
class Server::Impl {
 public:
  Impl(const ServerOptions& options, const Router& router, telemetry::Registry& metrics,
       const base::Clock& clock, Authenticator authenticator, telemetry::Tracer* tracer)
      : protected_mode_(!authenticator && options.visitors == Visitors::kLocal),
        clock_(clock),
        context_(options, router, metrics, clock, std::move(authenticator), tracer) {}

  void Start() {
    TENURE_CHECK(loops_.empty(), "a server is started once");
    for (int i = 0; i < context_.options.threads; ++i)
      loops_.push_back(std::make_shared<Loop>(clock_, context_.options.sweep_interval_ms));
    TENURE_CHECK(!loops_.empty(), "a server has at least one loop");
    listener_.emplace(context_, loops_, protected_mode_);
    loops_.front()->Post([this] { listener_->Start(); });
    running_ = loops_.size();
    for (std::size_t i = 0; i < loops_.size(); ++i) threads_.emplace_back([this, i] { Run(i); });
  }

  std::uint16_t port() const { return listener_ ? listener_->port() : context_.options.port; }

  void Stop(std::int64_t grace_ms) {
    if (threads_.empty()) return;
    loops_.front()->Post([this] { listener_->Close(); });
    for (const auto& loop : loops_) loop->Post([&loop] { loop->BeginStop(); });
    if (!AllEndedWithin(grace_ms))
      for (const auto& loop : loops_) loop->Post([&loop] { loop->CloseConnections(); });
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const auto& loop : loops_) loop->Shut();
  }

 private:
  void Run(std::size_t index) {
    pthread_setname_np(pthread_self(), fmt::format("http-{}", index).c_str());
    loops_[index]->Run();
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_all();
  }

  bool AllEndedWithin(std::int64_t ms) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::milliseconds(ms), [this] { return running_ == 0; });
  }

  const bool protected_mode_;
  const base::Clock& clock_;
  ServerContext context_;
  std::vector<std::shared_ptr<Loop>> loops_;
  std::optional<Listener> listener_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;  // guards running_
  std::condition_variable ended_;
  std::size_t running_ = 0;  // loops
};

Server::Server(ServerOptions options, const Router& router, telemetry::Registry& metrics,
               const base::Clock& clock, Authenticator authenticator, telemetry::Tracer* tracer)
    : impl_(std::make_unique<Impl>(options, router, metrics, clock, std::move(authenticator),
                                   tracer)) {}

Server::~Server() { Stop(0); }

void Server::Start() { impl_->Start(); }
std::uint16_t Server::port() const { return impl_->port(); }
void Server::Stop(std::int64_t grace_ms) { impl_->Stop(grace_ms); }

}  // namespace tenure::http
