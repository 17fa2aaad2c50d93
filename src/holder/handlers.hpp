#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace tenure::holder {

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
  static void Run(const std::function<void()>& handler);

  const bool threads_;
  std::mutex mutex_;
  std::condition_variable posted_;
  // Guarded by mutex_.
  std::deque<std::function<void()>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tenure::holder
