// The inbox under the stepped scheduler: I1 and the exactly-once effect over whole histories, and
// planted bugs that must be found.

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inbox/inbox.hpp"
#include "inbox_sql/queries.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {
namespace {

using inbox::BeginOutcome;
using inbox::FinishOutcome;
using inbox::MessageKey;

constexpr std::int64_t kInboxLeaseMs = 300;  // short, so that claims lapse in the middle of a run

/// What is wrong on purpose.
enum class InboxBug { kNothing, kNoLock, kNoFloor, kClockBeforeLock };

const db::Query kInboxNoLock{
    "inbox.lock_entries",
    "select item.ordinal from unnest($1::text[], $2::text[], $3::text[]) with "
    "ordinality as item (t, s, m, ordinal)",
    ""};
const db::Query kInboxNoFloor{
    "inbox.raise_floors",
    "select 1 from unnest($1::text[], $2::bigint[]) as item (t, f) where false", ""};
const db::Query kUsersComplete{
    "stepped.inbox_complete",
    "select 1::bigint from tenure.inbox_complete($1::text, $2::text, $3::bigint, null, $4::text)",
    ""};

/// A user's own transaction: an effect of its own (which nobody looks at) and the completion.
struct EffectRequest {
  MessageKey key{};
  std::int64_t fence = 0;

  std::size_t bytes() const { return key.bytes(); }
};
struct EffectReply {};
class EffectHandler final : public db::TypedHandler<EffectRequest, EffectReply> {
 public:
  std::string_view name() const override { return "stepped.effect"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    for (auto* item : items) {
      const EffectRequest& request = item->request;
      tx.Run(kUsersComplete, std::string_view(request.key.source),
             std::string_view(request.key.message_id), request.fence,
             std::string_view(request.key.tenant));
      tx.TakeClock(tx.QueueClock());  // a further step at which it may be paused
      item->reply = EffectReply();
    }
  }
};

struct InboxServer final : Server {
  explicit InboxServer(Process& its)
      : process(its),
        // Nobody is given up here: every message must go on.
        inbox(its.store(), {.max_attempts = 1'000}, its.metrics()) {}

  Process& process;
  inbox::Inbox inbox;
};

/// Somebody was told to process.
struct Told {
  std::string id;
  base::Uuid term;
  std::int64_t fence = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  int seen = 0;
};
/// Somebody was told that the message is done by its fence.
struct Completed {
  std::string id;
  std::int64_t fence = 0;
  int seen = 0;
  bool has_effect = false;
};

class InboxRun final : public Frame {
 public:
  explicit InboxRun(InboxBug planted)
      : Frame({.queries = QueriesOf({inbox::sql::All()}, {&kUsersComplete}),
               .odds = {.crash_percent = 2},
               .lock_step = "inbox.add_entries",
               .look_step = "inbox.load_entries",
               .early_clock = planted == InboxBug::kClockBeforeLock,
               .ahead_of_postgres = true}) {
    if (planted == InboxBug::kNoLock) Plant(kInboxNoLock);
    if (planted == InboxBug::kNoFloor) Plant(kInboxNoFloor);
  }

 private:
  MessageKey KeyOf(const std::string& id) const { return {tenant(), "source", id}; }

  std::unique_ptr<Server> Boot(Process& process) override {
    return std::make_unique<InboxServer>(process);
  }
  void Begin() override {
    told_.clear();
    completed_.clear();
    failing_.clear();
    terms_.clear();
    tidied_ = false;
  }
  void Judge() override {
    CheckFences();
    CheckClaims();
    CheckEnds();
    // Every claim and every back-off is over by then.
    clock().Advance(100'000);
    for (const char* id : {"a", "b", "c"}) CheckGoesOn(id);
  }

  /// A batch of one to three commands on the same few messages, or something of its own.
  void Submit(Process& process) override {
    auto& server = ServerOf<InboxServer>(process);
    const auto roll = Random(20);
    if (roll == 0)
      SubmitTidy(server);
    else if (roll <= 5 && !told_.empty())
      SubmitEffect(server);
    else
      for (auto count = 1 + Random(3); count > 0; --count) SubmitCommand(server);
  }

  void SubmitTidy(InboxServer& server) {
    tidied_ = true;
    server.inbox.TidySome({.retention_ms = 100}, nullptr, Expected());
  }

  void SubmitCommand(InboxServer& server) {
    const auto roll = told_.empty() ? 0 : Random(10);
    if (roll < 6)
      SubmitBegin(server);
    else if (roll < 8)
      SubmitComplete(server);
    else
      SubmitFail(server);
  }

  void SubmitBegin(InboxServer& server) {
    inbox::BeginCommand command{KeyOf(std::string(1, "abc"[Random(3)])), "", kInboxLeaseMs,
                                NewId()};
    // Now and then a delivery whose answer may have been lost.
    if (!terms_.empty() && Random(4) == 0) command.term = terms_[Random(terms_.size())];
    terms_.push_back(*command.term);
    server.inbox.Begin(command, nullptr,
                       [this, &server, command](const db::Result<BeginOutcome>& result) {
                         if (Expect(result)) Tell(server, command, result.value());
                       });
  }

  void SubmitComplete(InboxServer& server) {
    const Told told = AnyLate(told_);
    server.inbox.Complete({KeyOf(told.id), told.fence, ""}, nullptr,
                          [this, &server, told](const db::Result<FinishOutcome>& result) {
                            if (!Expect(result)) return;
                            if (result.value().kind == FinishOutcome::Kind::kAccepted)
                              completed_.push_back({told.id, told.fence, server.process.seen});
                          });
  }

  void SubmitFail(InboxServer& server) {
    const Told told = AnyLate(told_);
    failing_.insert({told.id, told.fence});
    server.inbox.Fail({KeyOf(told.id), told.fence, "no"}, nullptr, Expected());
  }

  void SubmitEffect(InboxServer& server) {
    const Told told = AnyLate(told_);
    server.process.store().Submit(
        effect_, nullptr, {KeyOf(told.id), told.fence},
        [this, &server, told](const db::Result<EffectReply>& result) {
          // TN002: stale, and so is the effect.
          if (!result.ok() && result.fault().kind() == base::FaultKind::kStatement) return;
          if (Expect(result))
            completed_.push_back({told.id, told.fence, server.process.seen, true});
        });
  }

  void Tell(const InboxServer& server, const inbox::BeginCommand& command,
            const BeginOutcome& outcome) {
    if (outcome.kind != BeginOutcome::Kind::kProcess) return;
    const std::int64_t from_ms = outcome.until_ms - kInboxLeaseMs;
    // Only who sent a term alone was handed the message by this very batch.
    const bool alone = std::count(terms_.begin(), terms_.end(), *command.term) == 1;
    if (alone && from_ms < server.process.locked_at_ms)
      Violation("a delivery was decided by a time from before its lock");
    told_.push_back({command.key.message_id, *command.term, outcome.fence, from_ms,
                     outcome.until_ms, server.process.seen});
  }

  /// A fence is told to one delivery only.
  void CheckFences() {
    for (const Told& one : told_)
      for (const Told& other : told_)
        if (one.id == other.id && one.fence == other.fence && one.term != other.term)
          return Violation(
              fmt::format("I1: fence {} of {} was told to two deliveries", one.fence, one.id));
  }

  /// No claim begins before the one before it is over: by its deadline, or by its own failure.
  void CheckClaims() {
    for (const Told& one : told_)
      for (const Told& later : told_)
        if (one.id == later.id && one.fence < later.fence && later.from_ms < one.until_ms &&
            !failing_.contains({one.id, one.fence}) && !tidied_)
          return Violation(fmt::format("I1: fence {} of {} was handed out while {} was live",
                                       later.fence, later.id, one.fence));
  }

  /// One claim completes a message, at most one effect is committed, and nobody is told to process
  /// it afterwards. (What was cleaned up begins anew.)
  void CheckEnds() {
    if (tidied_) return;
    for (const Completed& end : completed_) {
      int effects = 0;
      for (const Completed& other : completed_) {
        if (other.id != end.id) continue;
        effects += other.has_effect ? 1 : 0;
        if (other.fence != end.fence)
          return Violation(fmt::format("{} was completed by two claims", end.id));
      }
      if (effects > 1) return Violation(fmt::format("{} took effect twice", end.id));
      for (const Told& told : told_)
        if (told.id == end.id && told.seen > end.seen && told.fence != end.fence)
          return Violation(fmt::format("I1: {} was handed out after it was done", end.id));
    }
  }

  /// Whatever crashed: the next delivery is told to process it, or it is done.
  void CheckGoesOn(const std::string& id) {
    const auto kind = Ask<BeginOutcome>([&](Process& process, auto done) {
                        ServerOf<InboxServer>(process).inbox.Begin(
                            {KeyOf(id), "", kInboxLeaseMs, NewId()}, nullptr, std::move(done));
                      }).kind;
    const bool was_completed = std::any_of(completed_.begin(), completed_.end(),
                                           [&](const Completed& end) { return end.id == id; });
    if (kind != BeginOutcome::Kind::kProcess && kind != BeginOutcome::Kind::kDone)
      Violation(fmt::format("I1: {} cannot be had, though everybody is gone", id));
    if (was_completed && !tidied_ && kind != BeginOutcome::Kind::kDone)
      Violation(fmt::format("{} was completed, and that is forgotten", id));
  }

  EffectHandler effect_;

  // Of one run.
  bool tidied_ = false;
  std::vector<base::Uuid> terms_;
  std::vector<Told> told_;
  std::vector<Completed> completed_;
  std::set<std::pair<std::string, std::int64_t>> failing_;
};

TEST(SteppedInbox, I1_HoldsInEveryInterleavingAndNothingDeadlocks) {
  InboxRun run(InboxBug::kNothing);
  support::ExpectEverySeedHolds(run, kSeeds);
}

TEST(SteppedInbox, EveryPlantedBugIsFound) {
  using enum InboxBug;
  using Bug = std::pair<InboxBug, const char*>;
  for (const auto& [planted, by_name] :
       {Bug{kNoLock, "was told to two deliveries"}, Bug{kNoFloor, "was told to two deliveries"},
        Bug{kClockBeforeLock, "by a time from before its lock"}})
    support::ExpectFound(InboxRun(planted), kSeedsForABug, by_name);
}

}  // namespace
}  // namespace tenure::stepped
