#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/task.hpp"
#include "db/method.hpp"
#include "store/test_store.hpp"
#include "wake/registry.hpp"

namespace tenure::store {

/// One process on a test's store, driven by hand: every call runs the lanes until it is answered. A
/// capability's tests derive from it, and add the capability.
class Process {
 public:
  explicit Process(TestStore& test_store)
      : test_store_(test_store), store_(test_store.NewProcess()), wake_(test_store.clock()) {}

  db::Store& store() { return *store_; }
  wake::Registry& wake() { return wake_; }
  TestStore& test_store() { return test_store_; }

  /// Runs lanes and waiters until nothing moves at this instant.
  void Drive() {
    do {
      store::Drive(*store_);
    } while (wake_.RunDue() > 0);
  }
  /// Time passes for everybody of this process, step by step.
  void Pass(std::int64_t ms, std::int64_t step_ms = 50) {
    for (std::int64_t passed = 0; passed < ms; passed += step_ms) {
      test_store_.clock().Advance(std::min(step_ms, ms - passed));
      Drive();
    }
  }

  /// The reply to what `submit` submits with the callback that it is given. Throws its fault.
  template <class Reply, class Submit>
  Reply Await(Submit submit) {
    std::optional<db::Result<Reply>> answer;
    submit([&](db::Result<Reply> result) { answer = std::move(result); });
    store::Drive(*store_);
    if (!answer) throw std::logic_error("no answer");
    if (!answer->ok()) throw answer->fault();
    return std::move(answer->value());
  }

  /// The same for a method: Call(leases, &Leases::Find, {…}). Nobody in particular calls.
  template <class Reply>
  using Done = base::UniqueFunction<db::Result<Reply>>;
  template <class T>
  using Value = std::type_identity_t<std::remove_cvref_t<T>>;
  template <class Object, class Request, class Caller, class Reply>
  Reply Call(Object& object, void (Object::*method)(Request, Caller, Done<Reply>),
             Value<Request> request) {
    return Await<Reply>(
        [&](auto done) { (object.*method)(std::move(request), Value<Caller>(), std::move(done)); });
  }
  template <class Object, class Request, class Reply>
  Reply Call(Object& object, void (Object::*method)(Request, Done<Reply>), Value<Request> request) {
    return Await<Reply>([&](auto done) { (object.*method)(std::move(request), std::move(done)); });
  }
  template <class Object, class Reply>
  Reply Call(Object& object, void (Object::*method)(Done<Reply>)) {
    return Await<Reply>([&](auto done) { (object.*method)(std::move(done)); });
  }
  template <class Object, class Handler>
  auto Call(Object& object, db::Method<Handler> Object::*method,
            typename Handler::RequestType request = {}) {
    return Await<typename Handler::ReplyType>(
        [&](auto done) { (object.*method)(std::move(request), nullptr, std::move(done)); });
  }

 private:
  TestStore& test_store_;
  std::unique_ptr<db::Store> store_;
  wake::Registry wake_;
};

}  // namespace tenure::store
