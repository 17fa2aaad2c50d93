#pragma once

#include <optional>

#include "db/method.hpp"
#include "inbox/change.hpp"

namespace tenure::inbox {

struct FindRequest {
  MessageKey key{};

  std::size_t bytes() const { return key.bytes(); }
};
struct FindReply {
  std::optional<MessageRow> entry{};
  std::int64_t now_ms = 0;
};
struct EntriesRequest {
  std::string tenant{};
  std::string source{};          ///< empty: any
  std::optional<State> state{};  ///< as it is stored: a lapsed claim is a claim
  MessageKey after{};            ///< the one behind which the page begins
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, source, after); }
};
struct Entry {
  MessageKey key{};
  MessageRow row{};
};
db::Transaction::Pending QueueEntries(db::Transaction& tx, const EntriesRequest& request,
                                      std::int64_t rows);
/// Without its tenant.
Entry ReadEntry(const db::Rows::Row& row);

void FindEntries(db::Transaction& tx, db::Items<FindRequest, FindReply> items);

/// Claims whose lease passed long ago, and nobody delivered the message again: its source has given
/// it up, or cannot reach us.
std::int64_t CountStuckEntries(db::Transaction& tx, std::int64_t now_ms);

struct TidyRequest {
  std::int64_t retention_ms = 0;  ///< how long an entry is kept after its last change
};
/// One bounded batch of forgetting. This is the inbox's horizon: a message that is delivered again
/// after its entry was removed is processed again.
///
/// Why no fence repeats: an entry is removed only when no claim of it is live, under its row lock,
/// and its fence goes into the tenant's floor in the same transaction. A delivery that comes
/// meanwhile finds the row locked and is told to come back; one that comes after COMMIT makes a new
/// row and starts above the floor, which it reads in a later statement than the one that found the
/// row gone. So a worker that was paused for longer than the retention holds a fence that no later
/// claim of the message ever has.
db::Swept Tidy(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms);

/// The inbox on a store: what the routes, the tasks and the tests call.
///
/// Any number of processes may run this on one store: nothing is remembered here.
class Inbox {
  Probe probe_;
  db::Method<ChangeHandler> change_;

 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Inbox(db::Store& store, const Budget& budget, telemetry::Registry& metrics)
      : probe_(metrics),
        change_(store, budget, probe_),
        Find(store, "inbox.find"),
        List(store, "inbox.list"),
        TidySome(store, "inbox.tidy", db::LaneName::Shared(0)),
        CountStuck(store, "inbox.count") {}

  void Begin(BeginCommand command, base::Caller caller, Callback<BeginOutcome> done) {
    change_(std::move(command), std::move(caller), db::Only<BeginOutcome>(std::move(done)));
  }
  void Complete(CompleteCommand command, base::Caller caller, Callback<FinishOutcome> done) {
    change_(std::move(command), std::move(caller), db::Only<FinishOutcome>(std::move(done)));
  }
  void Fail(FailCommand command, base::Caller caller, Callback<FinishOutcome> done) {
    change_(std::move(command), std::move(caller), db::Only<FinishOutcome>(std::move(done)));
  }
  db::Look<FindEntries> Find;
  db::List<QueueEntries, ReadEntry> List;

  /// One bounded batch of background work. The caller repeats while `has_more`.
  db::Sweep<Tidy> TidySome;
  db::Count<CountStuckEntries> CountStuck;

  Probe& probe() { return probe_; }
};

}  // namespace tenure::inbox
