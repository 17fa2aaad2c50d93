#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "db/store.hpp"
#include "messages/messages.hpp"
#include "queues/queues.hpp"
#include "telemetry/metrics.hpp"
#include "wake/registry.hpp"

namespace bench {

/// Messages and ordered queues in this process, without a server: an engine, its lanes and the capability on top, made
/// as the server makes them. Nothing promotes or reaps: that is no part of what is measured.
class LocalMessages {
 public:
  /// `place`: a postgres:// address, or a folder for SQLite. The store is migrated first.
  explicit LocalMessages(const std::string& place);
  ~LocalMessages();

  tenure::messages::Messages& operator*() { return messages_; }
  tenure::messages::Messages* operator->() { return &messages_; }
  tenure::queues::Queues& queues() { return queues_; }

 private:
  tenure::telemetry::Registry metrics_;
  tenure::db::Store store_;
  tenure::wake::Registry wake_;
  tenure::messages::Messages messages_;
  tenure::queues::Queues queues_;
};

}  // namespace bench
