#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace tenure::base {

/// A callable that is run at most once and may own things that cannot be copied.
/// (std::move_only_function is C++23.)
template <class... Args>
class UniqueFunction {
 public:
  UniqueFunction() = default;
  template <class F>
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the callable
  requires(!std::is_same_v<std::decay_t<F>, UniqueFunction>) UniqueFunction(F&& function)
      : held_(std::make_unique<Holder<std::decay_t<F>>>(std::forward<F>(function))) {}

  explicit operator bool() const { return held_ != nullptr; }
  void operator()(Args... args) { held_->Run(std::forward<Args>(args)...); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void Run(Args... args) = 0;
  };
  template <class F>
  struct Holder final : Base {
    explicit Holder(F f) : function(std::move(f)) {}
    void Run(Args... args) override { function(std::forward<Args>(args)...); }
    F function;
  };
  std::unique_ptr<Base> held_;
};

using Task = UniqueFunction<>;

/// Somewhere to run things later: an HTTP loop, for one. `Post` may be called from any thread and
/// never runs the task inside the call.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void Post(Task task) = 0;

  /// For whoever gives work away from this executor's own thread: runs the task once the thread has
  /// dealt with what it has at hand, so that others are woken once for all of it. From another
  /// thread, and where there are no such rounds, it runs at once.
  virtual void Afterwards(Task task) { task(); }
};

}  // namespace tenure::base
