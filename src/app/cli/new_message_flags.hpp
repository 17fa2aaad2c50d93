#pragma once

#include <optional>
#include <string>

#include "app/cli/flags.hpp"

namespace tenure::app {

/// What `message enqueue` and `timer set` have in common: a topic, a payload, and when.
class NewMessageFlags {
 public:
  void Declare(Flags& flags);
  /// The body of the request. `dedup_key` may be empty. Throws UsageError.
  std::string Body(const std::optional<std::string>& dedup_key = std::nullopt) const;
  bool SaysWhen() const { return due_ || delay_; }

 private:
  std::string topic_;
  std::string payload_;
  std::optional<std::string> due_;
  std::optional<std::string> delay_;
  std::optional<std::string> priority_;
  std::optional<std::string> correlation_;
};

}  // namespace tenure::app
