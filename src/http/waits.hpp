#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/mutex.hpp"
#include "http/message.hpp"

namespace tenure::http {

/// How much the requests that wait in one process may wait for, all together and one person's: a
/// claim that waits for a hundred topics counts as a hundred. Each thing that is waited for costs
/// memory and now and then a look at the store, also while nothing happens.
///
/// Beyond the first bound a request is refused with 503, beyond the second with 429. Without
/// authentication nobody is known, and only the first one counts.
///
/// Threads: any.
class Waits final : public std::enable_shared_from_this<Waits> {
 public:
  struct Bounds {
    std::size_t all = 20'000;
    std::size_t of_person = 10'000;
  };

  explicit Waits(Bounds bounds) : bounds_(bounds) {}

  /// What one request waits for; it ends with the wait.
  class Share {
   public:
    Share(std::shared_ptr<Waits> waits, std::string person, std::size_t things)
        : waits_(std::move(waits)), person_(std::move(person)), things_(things) {}
    Share(Share&&) noexcept = default;
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (waits_) waits_->End(person_, things_);
    }

   private:
    std::shared_ptr<Waits> waits_;
    std::string person_;
    std::size_t things_;
  };

  /// Throws ProblemError.
  Share Begin(const Principal& principal, std::size_t things);

 private:
  void End(const std::string& person, std::size_t things);

  const Bounds bounds_;
  base::Mutex mutex_;
  std::size_t all_ TENURE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, std::size_t> of_person_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::http
