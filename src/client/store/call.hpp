#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/mutex.hpp"
#include "client/failure.hpp"
#include "db/operation.hpp"

namespace tenure::client {

/// One question to a store of our own, which answers on a thread of its own: somebody waits here
/// for the answer, and perhaps no longer.
///
/// Threads: any.
template <class Reply>
class Call {
 public:
  /// False: nobody will take it any more; it is left as it is.
  bool Answer(db::Result<Reply>& result) {
    const base::Lock lock(mutex_);
    if (is_closed_) return false;
    result_ = std::move(result);
    changed_.notify_all();
    return true;
  }
  /// Empty when the time is over, or `stop` was requested.
  std::optional<db::Result<Reply>> Await(std::chrono::milliseconds timeout,
                                         const std::stop_token& stop) {
    base::Lock lock(mutex_);
    changed_.wait_for(lock, stop, timeout, [&] {
      mutex_.AssertHeld();
      return result_.has_value();
    });
    return std::exchange(result_, std::nullopt);
  }
  /// No answer is taken from now on; the one that came before.
  std::optional<db::Result<Reply>> Close() {
    const base::Lock lock(mutex_);
    is_closed_ = true;
    return std::exchange(result_, std::nullopt);
  }

 private:
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<db::Result<Reply>> result_ TENURE_GUARDED_BY(mutex_);
  bool is_closed_ TENURE_GUARDED_BY(mutex_) = false;
};

/// The reply. Throws base::Fault, and CallFailed where there is no answer.
template <class Reply>
Reply Taken(std::optional<db::Result<Reply>> result) {
  if (!result)
    throw CallFailed(CallFailed::Kind::kUnavailable, "the store did not answer in time", true);
  if (!result->ok()) throw base::Fault(result->fault());
  return std::move(result->value());
}

/// Asks by `submit(callback)` and waits. What comes when the time is over is dropped.
template <class Reply, class Submit>
Reply Ask(std::chrono::milliseconds timeout, const std::stop_token& stop, const Submit& submit) {
  const auto call = std::make_shared<Call<Reply>>();
  submit([call](db::Result<Reply> result) { call->Answer(result); });
  return Taken(call->Await(timeout, stop));
}

}  // namespace tenure::client
