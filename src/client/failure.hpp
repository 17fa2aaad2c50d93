#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

#include "tenure/leases/errors.hpp"

namespace tenure::client {

/// Why a call came to no outcome, before it has the words of leases or of messages.
class CallFailed : public std::runtime_error {
 public:
  enum class Kind {
    kUnavailable,  ///< nobody answered, or not in time, or not Tenure
    kDenied,  ///< the token is not taken, or does not allow it; or the database's role lacks rights
    kInvalid,  ///< no store would take it
    kUnfit,    ///< the store, as it is set up, cannot keep leases
  };
  CallFailed(Kind kind, const std::string& what, bool outcome_unknown = false,
             std::chrono::milliseconds retry_after = std::chrono::milliseconds(0))
      : std::runtime_error(what),
        kind_(kind),
        outcome_unknown_(outcome_unknown),
        retry_after_(retry_after) {}

  Kind kind() const { return kind_; }
  bool outcome_unknown() const { return outcome_unknown_; }
  /// Nobody is to ask sooner than this; 0: any time.
  std::chrono::milliseconds retry_after() const { return retry_after_; }

 private:
  Kind kind_;
  bool outcome_unknown_;
  std::chrono::milliseconds retry_after_;
};

/// For a `catch` block: throws what was caught as the public error, where it is the failure of a
/// call (CallFailed, base::Fault, base::UserError); anything else as it is.
[[noreturn]] void RethrowAsLeaseError(leases::LeaseError::About about);
[[noreturn]] void RethrowAsMessageError();
[[noreturn]] void RethrowAsJobError();
[[noreturn]] void RethrowAsQueueError();

template <class Call>
auto LeaseCall(leases::LeaseError::About about, const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    RethrowAsLeaseError(std::move(about));
  }
}

template <class Call>
auto MessageCall(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    RethrowAsMessageError();
  }
}

template <class Call>
auto JobCall(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    RethrowAsJobError();
  }
}

template <class Call>
auto QueueCall(const Call& call) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    RethrowAsQueueError();
  }
}

}  // namespace tenure::client
