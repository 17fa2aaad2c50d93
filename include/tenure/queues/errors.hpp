#pragma once

#include <string>
#include <utility>

#include "tenure/errors.hpp"

namespace tenure::queues {

/// The store could not be reached, did not answer in time, or refused. When the outcome is unknown:
/// reports may simply be repeated, and so may a send with a dedup key.
class Unavailable : public Error {
 public:
  using Error::Error;
};

/// The token is not taken (401), or it does not allow this (403); or the role lacks a right in the
/// database. Nothing happened, and asking again does not help.
class AccessDenied : public Error {
 public:
  explicit AccessDenied(const std::string& message) : Error(message, false) {}
};

/// The queue does not do this: there is none of this name, it keeps no order (then `topic` names
/// where its messages are), or its bot was removed.
class QueueRefused : public Error {
 public:
  explicit QueueRefused(const std::string& message, std::string topic = {})
      : Error(message, false), topic_(std::move(topic)) {}
  const std::string& topic() const { return topic_; }

 private:
  std::string topic_;
};

}  // namespace tenure::queues
