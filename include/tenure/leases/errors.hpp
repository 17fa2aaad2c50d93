#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "tenure/errors.hpp"

namespace tenure::leases {

/// What goes wrong with leases. "Somebody else holds it" is an outcome, not an error.
class LeaseError : public Error {
 public:
  struct About {
    std::string lease{};
    std::int64_t fence = 0;  ///< 0: none yet
    /// Whether the store may have done what it was asked to. Asking again with the same term is
    /// always safe.
    bool outcome_unknown = false;
    /// The store asks not to be asked sooner than this; 0: it said nothing.
    std::chrono::milliseconds retry_after{0};
  };

  LeaseError(const std::string& message, About about)
      : Error(message, about.outcome_unknown), about_(std::move(about)) {}

  const std::string& lease() const { return about_.lease; }
  std::int64_t fence() const { return about_.fence; }
  /// Background renewals and `Acquire` wait at least so long, as far as the validity allows.
  std::chrono::milliseconds retry_after() const { return about_.retry_after; }

 private:
  About about_;
};

/// The lease could not be had: its term is over, or a bound was not kept.
class AcquisitionError : public LeaseError {
 public:
  using LeaseError::LeaseError;
};

/// A renewal did not succeed; the lease may still be valid.
class RenewalError : public LeaseError {
 public:
  using LeaseError::LeaseError;
};

/// Somebody else holds it, told by a call that has no value for that (`Manager::Acquire`).
class ConflictError : public LeaseError {
 public:
  using LeaseError::LeaseError;
};

/// The lease is not held any more (`Lease::ThrowIfLost`).
class LostError : public LeaseError {
 public:
  using LeaseError::LeaseError;
};

/// The provider could not be reached, did not answer in time, or gives less than was required.
class ProviderUnavailable : public LeaseError {
 public:
  using LeaseError::LeaseError;
};

/// The store answers, and as it is set up it cannot keep leases as they are asked for (it may forget
/// grants, it throws keys away when memory is short): the message says what to change.
/// Nothing happened.
class UnfitStore : public ProviderUnavailable {
 public:
  using ProviderUnavailable::ProviderUnavailable;
};

/// The server does not take the token (401), or it does not allow this (403): the message is the
/// server's, and names the scope that is missing. Or the role lacks a right in the database: the
/// message says which, and how it is given. Nothing happened, and asking again does not help, so the library does not.
class AccessDenied : public LeaseError {
 public:
  using LeaseError::LeaseError;
};

}  // namespace tenure::leases
