#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "db/feed.hpp"
#include "db/store.hpp"
#include "messages/heartbeat.hpp"
#include "messages/messages.hpp"
#include "telemetry/metrics.hpp"
#include "wake/registry.hpp"

namespace tenure::couriers {

using NewEngine = std::function<std::unique_ptr<db::Engine>(telemetry::Registry&)>;

/// PostgreSQL, or a SQLite file that processes share.
NewEngine PostgresEngine(const std::string& url, bool pooled);
NewEngine SqliteEngine(const std::string& path);

/// A store of messages in this process: lanes, news, those who wait. It brings the schema up to
/// date. Lanes connect with their first call; the heartbeat's is a store of its own, so nothing
/// that is long under way elsewhere delays it.
///
/// Life: the constructor starts everything (throws base::Fault, base::UserError), the destructor
/// ends it.
class MessageStore {
 public:
  explicit MessageStore(const NewEngine& new_engine);
  ~MessageStore();
  MessageStore(const MessageStore&) = delete;
  MessageStore& operator=(const MessageStore&) = delete;

  messages::Messages& messages() { return messages_; }
  /// On the heartbeat's own connection.
  void Heartbeat(messages::HeartbeatRequest request,
                 base::UniqueFunction<db::Result<messages::HeartbeatReply>> done);

  /// Promotes and reaps from now on: whoever claims also keeps messages moving. Any number of
  /// times.
  void Keep();
  /// Somebody begins or ends to wait: news that must be polled for are so only meanwhile.
  void Waiting(bool begins);

 private:
  telemetry::Registry metrics_;
  wake::Registry wake_;
  db::Store store_;
  db::Store beats_;
  std::unique_ptr<db::Feed> feed_;
  messages::Messages messages_;
  messages::HeartbeatHandler heartbeat_;
  std::mutex mutex_;
  bool keeps_ = false;  // guarded by mutex_
  int waiting_ = 0;     // guarded by mutex_
};

}  // namespace tenure::couriers
