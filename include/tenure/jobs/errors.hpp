#pragma once

#include <string>
#include <utility>

#include "tenure/errors.hpp"

namespace tenure::jobs {

/// The store could not be reached, did not answer in time, or refused. When the outcome is unknown
/// every call may simply be repeated; a trigger with the same key.
class Unavailable : public Error {
 public:
  using Error::Error;
};

/// The server does not take the token, or it does not allow this; or the role lacks a right in the
/// database. Nothing happened, and asking again does not help.
class AccessDenied : public Error {
 public:
  explicit AccessDenied(const std::string& message) : Error(message, false) {}
};

/// What is asked for cannot be done to this job as it is. Nothing happened.
class Refused : public Error {
 public:
  Refused(const std::string& message, std::string reason)
      : Error(message, false), reason_(std::move(reason)) {}

  /// "job-of-file": the configuration file has made it; "job-changed": the revision is another one;
  /// "too-many-jobs"; "key-reused": the key was used for something else.
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace tenure::jobs
