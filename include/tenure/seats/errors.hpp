#pragma once

#include "tenure/errors.hpp"

namespace tenure::seats {

/// What goes wrong with seats. "All are taken" is an outcome, not an error.
class SeatError : public Error {
 public:
  using Error::Error;
};

/// The server could not be reached, or did not answer in time. Asking again is always safe: a
/// machine has one seat of a licence, however often it asks.
class Unavailable : public SeatError {
 public:
  using SeatError::SeatError;
};

/// The server does not take the token (401), or it does not allow this (403). Asking again with the
/// same token does not help.
class AccessDenied : public SeatError {
 public:
  using SeatError::SeatError;
};

/// The state file cannot be used: another holder has it, or it cannot be read or written.
class StateFileError : public SeatError {
 public:
  using SeatError::SeatError;
};

}  // namespace tenure::seats
