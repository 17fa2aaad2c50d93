#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "db/transaction.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// What a transaction brought for those who wait: topics with messages that became ready, and that
/// something waits for its time. Other processes are told inside of the transaction, this one after
/// COMMIT.
class News {
 public:
  /// A message that is ready at `due_ms`.
  void Add(std::string_view tenant, std::string_view topic, std::int64_t due_ms,
           std::int64_t now_ms);

  /// Queues the notification of other processes, for those topics that one of them waits for.
  void Tell(db::Transaction& tx, std::string_view process, std::int64_t now_ms) const;
  /// After COMMIT.
  void Signal(wake::Registry& wake) const;

 private:
  std::set<std::pair<std::string, std::string>> topics_;  // tenant, topic
  bool timers_ = false;                                   // something waits for its time
  bool soon_ = false;                                     // and it comes soon
};

}  // namespace tenure::messages
