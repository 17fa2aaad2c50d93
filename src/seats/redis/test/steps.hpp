#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

/// Programs of a simulation, written as they run: what stands between two `co_await`s happens at one instant.
namespace tenure::seats::test {

/// A call: it begins when it is awaited, and what it throws reaches who awaits it.
template <class Value>
class Call;

class PromiseBase {
 public:
  struct Finish {
    bool await_ready() noexcept { return false; }
    template <class Of>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Of> done) noexcept {
      const auto next = done.promise().next_;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  Finish final_suspend() noexcept { return {}; }
  void unhandled_exception() { error_ = std::current_exception(); }

  std::coroutine_handle<> next_{};
  std::exception_ptr error_{};
};

template <class Value>
struct CallPromise : PromiseBase {
  Call<Value> get_return_object();
  void return_value(Value value) { value_ = std::move(value); }
  std::optional<Value> value_{};
};
template <>
struct CallPromise<void> : PromiseBase {
  Call<void> get_return_object();
  void return_void() {}
};

template <class Value>
class [[nodiscard]] Call {
 public:
  using promise_type = CallPromise<Value>;
  explicit Call(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Call(Call&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Call& operator=(Call&&) = delete;
  ~Call() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) {
    handle_.promise().next_ = caller;
    return handle_;
  }
  Value await_resume() {
    if (handle_.promise().error_) std::rethrow_exception(handle_.promise().error_);
    if constexpr (!std::is_void_v<Value>) return std::move(*handle_.promise().value_);
  }

  std::coroutine_handle<promise_type> handle() const { return handle_; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

template <class Value>
Call<Value> CallPromise<Value>::get_return_object() {
  return Call<Value>(std::coroutine_handle<CallPromise>::from_promise(*this));
}
inline Call<void> CallPromise<void>::get_return_object() {
  return Call<void>(std::coroutine_handle<CallPromise>::from_promise(*this));
}

}  // namespace tenure::seats::test
