#pragma once

#include <mutex>

// What a mutex guards is said in the code, and clang checks it (packaging/tidy, -Wthread-safety): a member that is
// TENURE_GUARDED_BY(mutex_) is touched only by who holds it, a function that TENURE_REQUIRES(mutex_) is called only by
// them. For g++ these words are nothing.
#if defined(__clang__)
#define TENURE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TENURE_THREAD_ANNOTATION(x)
#endif
#define TENURE_GUARDED_BY(x) TENURE_THREAD_ANNOTATION(guarded_by(x))
#define TENURE_REQUIRES(...) TENURE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define TENURE_EXCLUDES(...) TENURE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
// For a function that lets a lock of its caller's go and takes it again.
#define TENURE_NOT_ANALYSED TENURE_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace tenure::base {

/// A std::mutex that clang's analysis knows.
class TENURE_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() TENURE_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() TENURE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

  /// For the body of a lambda, which the analysis takes for a function of its own.
  /// REQUIRES: the caller holds it.
  void AssertHeld() const TENURE_THREAD_ANNOTATION(assert_capability(this)) {}

 private:
  friend class Lock;
  std::mutex mutex_;
};

/// Holds a mutex until its end. It may be let go and taken again in between; a wait does both.
class TENURE_THREAD_ANNOTATION(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) TENURE_THREAD_ANNOTATION(acquire_capability(mutex))
      : lock_(mutex.mutex_) {}
  ~Lock() TENURE_THREAD_ANNOTATION(release_capability()) = default;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void lock() TENURE_THREAD_ANNOTATION(acquire_capability()) { lock_.lock(); }
  void unlock() TENURE_THREAD_ANNOTATION(release_capability()) { lock_.unlock(); }

  /// For std::condition_variable. A condition that reads guarded members says AssertHeld first.
  std::unique_lock<std::mutex>& native() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace tenure::base
