#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {

/// Runs a hook of the user's on a thread of ours: what it throws is logged.
void RunHook(const std::function<void()>& hook) noexcept;

/// Tells the user of troubles with the store that the library goes on with by itself: each by the
/// hook, if there is one, and the log by the first of a while.
///
/// Threads: any.
class Troubles {
 public:
  using Hook = std::function<void(const std::string&)>;

  /// `event`: the name of the log's lines, a literal.
  Troubles(const Clock& clock, std::string_view event, Hook hook)
      : clock_(clock), event_(event), hook_(std::move(hook)) {}

  /// `doing`: "claiming".
  void Tell(std::string_view doing, const std::exception& error);

 private:
  static constexpr std::int64_t kLogEveryMs = 10'000;

  bool MayLog();

  const Clock& clock_;
  const std::string_view event_;
  const Hook hook_;
  base::Mutex mutex_;
  std::int64_t next_line_ms_ TENURE_GUARDED_BY(mutex_) = 0;
};

/// Runs the handlers of events, one after another, on a thread of its own that begins with the
/// first of them. What a handler throws is logged; a slow one delays only those after it.
///
/// Life: `Post` may be called until the end and after it; `Stop` runs what was posted before it and
/// waits, what comes later is dropped. Without threads the owner calls `RunAll`.
/// Threads: any, except that `Stop` and the destructor must not be called by a handler.
class Handlers {
 public:
  explicit Handlers(bool threads) : threads_(threads) {}
  ~Handlers() { Stop(); }

  void Post(std::function<void()> handler);
  /// By hand only.
  void RunAll();
  void Stop();

 private:
  void Loop();

  const bool threads_;
  base::Mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> waiting_ TENURE_GUARDED_BY(mutex_);
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

/// Sleeps until `until_ms` or until `stop` is requested. False: it was requested.
bool SleepUntil(const Clock& clock, std::int64_t until_ms, const std::stop_token& stop);

}  // namespace tenure::client
