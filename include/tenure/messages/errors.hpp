#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "tenure/errors.hpp"

namespace tenure::messages {

/// The store could not be reached, did not answer in time, or refused. When the outcome is unknown:
/// reports and claims may simply be repeated, an enqueue with a dedup key too.
class Unavailable : public Error {
 public:
  using Error::Error;
};

/// The server does not take the token (401), or it does not allow this (403): the message is the
/// server's, and names the scope that is missing. Or the role lacks a right in the database: the
/// message says which, and how it is given. Nothing happened, and asking again does not help. (A Worker, which has nobody to throw at, says so by `on_trouble` and asks
/// again seldom.)
class AccessDenied : public Error {
 public:
  explicit AccessDenied(const std::string& message) : Error(message, false) {}
};

/// A former owner tried to acknowledge in its own transaction: roll back. The message was handed to
/// somebody else, or is finished.
class StaleClaim : public Error {
 public:
  StaleClaim(const std::string& message, std::string id, std::int64_t fence)
      : Error(message, false), id_(std::move(id)), fence_(fence) {}

  const std::string& id() const { return id_; }
  std::int64_t fence() const { return fence_; }

 private:
  std::string id_;
  std::int64_t fence_;
};

}  // namespace tenure::messages
