#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tenure::base {

/// Why an operation could not be carried out. Ordinary outcomes ("somebody else holds it") are
/// values of each capability, never faults. `http/` has the one table from these to statuses.
enum class FaultKind {
  kStoreUnavailable,  ///< the store cannot be reached; nothing happened
  kOutcomeUnknown,    ///< the connection was lost in COMMIT; it may or may not have happened
  kContended,         ///< a lock was not to be had in time; nothing happened
  kOverloaded,        ///< a bounded queue is full; nothing happened
  kTimeout,           ///< the item's deadline passed before its turn came; nothing happened
  kSerialization,  ///< serialization failure or deadlock; nothing happened, the batch is run again
  kStatement,      ///< the store refused a statement: a defect of ours or a hostile value
  kDenied,         ///< the store's role lacks a right; nothing happened
  kStopping,       ///< the process is shutting down; nothing happened
  kFenceStale,     ///< a fence of the caller is not of a live grant; nothing happened
};

std::string_view ToText(FaultKind kind);

/// The one exception type of the store and everything above it.
class Fault : public std::runtime_error {
 public:
  Fault(FaultKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

  FaultKind kind() const { return kind_; }
  bool outcome_unknown() const { return kind_ == FaultKind::kOutcomeUnknown; }
  /// Whether the caller may simply ask again.
  bool retryable() const {
    return kind_ != FaultKind::kStatement && kind_ != FaultKind::kDenied &&
           kind_ != FaultKind::kFenceStale;
  }

 private:
  FaultKind kind_;
};

/// For a person who runs the program: what is wrong and what to do about it. Ends a command with
/// exit code 1 and the bare message, no stack of prefixes.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Stops the process with a message: an invariant of the program itself is broken, and going on
/// could hand out something twice.
[[noreturn]] void Panic(std::string_view message, const char* file, int line);

}  // namespace tenure::base

/// Checked in every build type.
#define TENURE_CHECK(condition, message)                  \
  do {                                                    \
    if (!(condition)) [[unlikely]]                        \
      ::tenure::base::Panic(message, __FILE__, __LINE__); \
  } while (false)
