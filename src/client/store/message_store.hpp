#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "client/store/local_store.hpp"
#include "db_sql/queries.hpp"
#include "jobs/run_ends.hpp"
#include "jobs_sql/queries.hpp"
#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::client {

/// Messages on a store of our own, in this process. Claims have one lane, everything else another;
/// the heartbeat's is a store of its own, so nothing that is long under way elsewhere delays it.
/// Runs of jobs end with their messages here, too.
///
/// Life: the constructor starts everything (throws base::Fault, base::UserError), Stop or the
/// destructor ends it.
class MessageStore {
 public:
  /// `more`: queries of whoever else uses its lanes.
  explicit MessageStore(const StoreAddress& address, std::span<const db::Query* const> more = {})
      : store_(address,
               {.queries = Joined({db::sql::All(), messages::sql::All(), jobs::sql::All(), more})}),
        lanes_(store_.NewLanes(2)),
        beats_(store_.NewLanes(1)),
        messages_(*lanes_, store_.wake(), store_.process(), base::SystemClock(), store_.metrics()) {
    messages_.Follow(run_ends_);
    // Connected from the start: who asks while a lane connects is told that the store is away.
    for (const auto* lanes : {&lanes_, &beats_}) {
      (*lanes)->Open();
      (*lanes)->Start();
    }
  }
  ~MessageStore() { Stop(); }
  MessageStore(const MessageStore&) = delete;
  MessageStore& operator=(const MessageStore&) = delete;

  /// Whoever waits is answered, and no operation runs any more. A second time it does nothing.
  void Stop() {
    if (std::exchange(is_stopped_, true)) return;
    messages_.Stop();
    lanes_->Stop();
    beats_->Stop();
  }

  messages::Messages& messages() { return messages_; }
  LocalStore& store() { return store_; }
  db::Store& lanes() { return *lanes_; }
  db::Store& beats() { return *beats_; }

  /// Promotes and reaps from now on: whoever claims also keeps messages moving. Any number of
  /// times.
  void Keep() {
    std::call_once(keeps_, [this] { messages_.StartScheduler(); });
  }

 private:
  LocalStore store_;
  const std::unique_ptr<db::Store> lanes_;
  const std::unique_ptr<db::Store> beats_;
  jobs::Probe job_probe_{store_.metrics()};
  jobs::RunEnds run_ends_{job_probe_};
  messages::Messages messages_;
  std::once_flag keeps_;
  bool is_stopped_ = false;

 public:
  /// On the heartbeat's own connection.
  db::Write<messages::BeatWorkers> Heartbeat{*beats_, "messages.heartbeat", messages::kSettleLane};
};

}  // namespace tenure::client
