#include "queues/report.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/json_writer.hpp"
#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

using Kind = ReportOutcome::Kind;

/// So many messages are looked at to see whether the order is kept.
constexpr std::int64_t kMaxRewound = 1'000;

Kind KindOf(Completed completed) {
  switch (completed) {
    case Completed::kDone:
      return Kind::kDone;
    case Completed::kGone:
      return Kind::kGone;
    case Completed::kStale:
      return Kind::kStale;
    case Completed::kOutOfOrder:
      return Kind::kOutOfOrder;
  }
  return Kind::kStale;
}

/// One report on the session that it names, under its lock.
class Decision {
 public:
  /// `room`: so many bytes of messages the answer may still have.
  Decision(db::Transaction& tx, Batch& batch, Slices& slices, Session& session, std::int64_t& room)
      : tx_(tx), batch_(batch), slices_(slices), session_(session), room_(room) {}

  ReportOutcome Of(const Report& report) {
    ReportOutcome outcome;
    outcome.kind = Decide(report, outcome);
    outcome.row = session_.row();
    return outcome;
  }

 private:
  Kind Decide(const Report& report, ReportOutcome& outcome) {
    if (report.complete_through) {
      const Completed through = session_.Complete(report.fence, *report.complete_through);
      if (through == Completed::kStale || through == Completed::kOutOfOrder) return KindOf(through);
    }
    switch (report.kind) {
      case Report::Kind::kRenew:
        outcome.lost = session_.Renew(report.fence, report.lease_ms);
        return outcome.lost == Lost::kHeld ? Kind::kDone : Kind::kStale;
      case Report::Kind::kComplete:
        return Complete(report, outcome);
      case Report::Kind::kReceive:
        outcome.hold = session_.GoOn(report.fence, true, true);
        if (outcome.hold != Hold::kHeld) return Kind::kStale;
        HandOut(report, outcome);
        return Kind::kDone;
      case Report::Kind::kRelease:
        return session_.Release(report.fence) ? Kind::kDone : Kind::kStale;
      case Report::Kind::kTransfer:
        return session_.Transfer(report.fence, report.to, report.for_ms) ? Kind::kDone
                                                                         : Kind::kStale;
      case Report::Kind::kState:
        if (!session_.IsHeldBy(report.fence)) {
          outcome.lost = session_.Renew(report.fence, 0);
          return Kind::kStale;
        }
        session_.Renew(report.fence, 0);
        batch_.WriteState(session_.row().id, report.state.value_or(""), report.fence);
        return Kind::kDone;
      case Report::Kind::kFail: {
        const Failed failed =
            session_.Fail({report.fence, report.sequence, report.rejected, report.error,
                           report.error_class, report.retry_after_ms});
        outcome.then = failed.then;
        outcome.until_ms = failed.until_ms;
        return KindOf(failed.outcome);
      }
      case Report::Kind::kBreak:
        return session_.Break() ? Kind::kDone : Kind::kRefused;
      case Report::Kind::kResume:
        if (report.sequence != 0 && report.sequence != session_.row().head) return Kind::kRefused;
        return session_.Resume(report.delay_ms > 0 ? session_.now_ms() + report.delay_ms : 0)
                   ? Kind::kDone
                   : Kind::kRefused;
      case Report::Kind::kSkip:
        return session_.Skip(report.sequence, report.error) ? Kind::kDone : Kind::kRefused;
      case Report::Kind::kDiscard:
        return session_.Discard() ? Kind::kDone : Kind::kRefused;
      case Report::Kind::kRewind:
        return Rewind(report, outcome);
      case Report::Kind::kClear:
        return session_.Clear() ? Kind::kDone : Kind::kRefused;
    }
    return Kind::kRefused;
  }

  /// The order is kept only if everything behind it is a dead letter still. Whoever makes or takes
  /// letters of this session waits for its lock.
  Kind Rewind(const Report& report, ReportOutcome& outcome) {
    const SessionRow& row = session_.row();
    if (row.state == State::kHeld) return Kind::kRefused;
    const auto lost = [&](std::string why) {
      outcome.why = std::move(why);
      return Kind::kOrderLost;
    };
    if (row.generation != session_.queue().generation)
      return lost("the session is of an older generation of the queue");
    if (report.sequence >= row.head) return lost("it is not among the dead letters");
    if (row.head - report.sequence > kMaxRewound)
      return lost("more than a thousand messages lie behind it");
    std::set<std::int64_t> locked;
    const db::Rows lock_rows = tx_.Run(sql::kLockBetween, row.id, report.sequence);
    for (const auto each : lock_rows) locked.insert(each.Int(0));
    const db::Rows rows = tx_.Run(sql::kFindBetween, row.id, report.sequence, row.head);
    std::int64_t bytes = 0;
    std::int64_t expected = report.sequence;
    for (const auto each : rows) {
      const std::string message = "message " + std::to_string(expected);
      if (each.Int(0) != expected) return lost(message + " is forgotten");
      if (each.Int(2) < 0) return lost(message + " was completed or discarded");
      if (each.Int(2) > 0) return lost(message + " was replayed at the end of its session");
      if (!locked.contains(expected)) return Kind::kContended;
      bytes += each.Int(1);
      ++expected;
    }
    if (expected != row.head) return lost("message " + std::to_string(expected) + " is forgotten");
    tx_.Queue(sql::kDropDead, row.id, report.sequence);
    batch_.CameBack(session_, bytes);
    session_.Rewind(report.sequence);
    return Kind::kDone;
  }

  /// `done` and `gone` alike are answered with what comes next: a lost answer costs nothing.
  Kind Complete(const Report& report, ReportOutcome& outcome) {
    const Completed completed = session_.Complete(report.fence, report.sequence);
    if (completed == Completed::kStale || completed == Completed::kOutOfOrder)
      return KindOf(completed);
    if (report.state && completed == Completed::kDone)
      batch_.WriteState(session_.row().id, *report.state, report.fence);
    outcome.hold = session_.GoOn(report.fence, report.keep, report.linger);
    if (outcome.hold == Hold::kHeld) HandOut(report, outcome);
    return KindOf(completed);
  }

  /// A head that has expired is not handed out: the hold ends, and the next accept lets it go by
  /// policy. So it does where the answer is full.
  void HandOut(const Report& report, ReportOutcome& outcome) {
    if (!session_.row().HasWork()) return;
    if (room_ > 0) outcome.messages = slices_.HandOut(tx_, session_, report.max_messages, room_);
    for (const Message& each : outcome.messages) room_ -= AnswerBytes(each);
    if (!outcome.messages.empty()) return;
    session_.Release(report.fence);
    outcome.hold = Hold::kEnded;
  }

  db::Transaction& tx_;
  Batch& batch_;
  Slices& slices_;
  Session& session_;
  std::int64_t& room_;
};

/// What an operator did to sessions: to one that is named, or to how many.
void Record(db::Item<ReportRequest, ReportReply>& item) {
  if (!item.actor()) return;
  const auto done = std::ranges::count(item.reply->outcomes, Kind::kDone, &ReportOutcome::kind);
  if (done == 0) return;
  const Report& report = item.request.items.front();
  std::string object = item.request.queue;
  std::string detail;
  base::JsonWriter json(detail);
  json.BeginObject().Field("reason", std::string_view(report.error));
  if (item.request.items.size() == 1) {
    object += "/" + report.session.ToString();
    json.Field("head", item.reply->outcomes.front().row.head);
  } else {
    json.Field("sessions", static_cast<std::int64_t>(done));
  }
  json.EndObject();
  item.Did({std::move(object), std::move(detail)});
}

}  // namespace

ReportHandler::Locking ReportHandler::LockingOf(Report::Kind kind) {
  switch (kind) {
    case Report::Kind::kRenew:
    case Report::Kind::kComplete:
    case Report::Kind::kReceive:
    case Report::Kind::kRelease:
    case Report::Kind::kTransfer:
    case Report::Kind::kState:
      return Locking::kShares;
    case Report::Kind::kFail:
    case Report::Kind::kBreak:
    case Report::Kind::kResume:
    case Report::Kind::kSkip:
    case Report::Kind::kDiscard:
    case Report::Kind::kRewind:
    case Report::Kind::kClear:
      return Locking::kSeizes;
  }
  return Locking::kSeizes;
}

Effects ReportHandler::WriteItems(db::Transaction& tx, Items items) {
  std::map<base::Uuid, SessionName> named;
  std::map<base::Uuid, Slices::Asked> next;
  for (const auto* item : items)
    for (const Report& report : item->request.items) {
      named.try_emplace(report.session, SessionName{report.session, {}, {}});
      if (report.kind == Report::Kind::kComplete && report.keep)
        next.try_emplace(report.session,
                         Slices::Asked{report.session, report.sequence + 1, report.max_messages});
    }
  std::vector<base::Uuid> ids;
  std::vector<SessionName> names;
  for (auto& [id, name] : named) {
    ids.push_back(id);
    names.push_back(std::move(name));  // whose it is, is looked at for each report
  }
  std::vector<Slices::Asked> asked;
  for (const auto& [id, each] : next) asked.push_back(each);

  Batch batch(process_);
  Slices slices;
  // A rewound session must be of the generation that counts at COMMIT.
  if (std::ranges::any_of(items, [](const auto* item) {
        return std::ranges::any_of(item->request.items, [](const Report& report) {
          return report.kind == Report::Kind::kRewind;
        });
      }))
    tx.Queue(sql::kLockBotsShared);
  const auto locking =
      tx.Queue(locking_ == Locking::kSeizes ? sql::kSeizeSessions : sql::kLockSessions, ids);
  batch.Load(tx, std::move(names));
  slices.Load(tx, std::move(asked));
  const auto clock = tx.QueueClock();
  std::set<base::Uuid> locked;
  const db::Rows lock_rows = tx.Take(locking);
  for (const auto row : lock_rows) locked.insert(ids[row.ordinal()]);
  const std::int64_t now_ms = tx.TakeClock(clock);
  batch.Take(tx, locked, now_ms);
  slices.Take(tx);

  for (auto* item : items) {
    if (slices.is_full() && item != items.front()) break;  // the rest is for the next batch
    const ReportRequest& request = item->request;
    std::int64_t room = kMaxAcceptBytes;
    ReportReply reply{{}, now_ms};
    reply.outcomes.reserve(request.items.size());
    for (const Report& report : request.items) {
      Session* const session = batch.Find(report.session);
      const QueueRow* const queue = session ? &session->queue() : batch.PassedOver(report.session);
      if (!queue || queue->tenant != request.tenant || queue->name != request.queue)
        reply.outcomes.push_back({});
      else if (!session)
        reply.outcomes.push_back({.kind = Kind::kContended});
      else if (report.lease_ms > queue->most_lease_ms())
        reply.outcomes.push_back(
            {.kind = Kind::kLeaseTooLong, .most_lease_ms = queue->most_lease_ms()});
      else
        reply.outcomes.push_back(Decision(tx, batch, slices, *session, room).Of(report));
    }
    item->reply = std::move(reply);
    Record(*item);
  }
  batch.Apply(tx);
  if (RecordsTraces()) batch.LoadHandled(tx);
  Effects effects = batch.effects();
  std::vector<Message*> referring;
  for (auto* item : items) {
    if (!item->reply) continue;
    for (ReportOutcome& outcome : item->reply->outcomes) {
      CollectReferring(outcome.messages, referring);
      for (const Message& each : outcome.messages)
        effects.handed_ms.push_back(now_ms - each.enqueued_ms);
    }
  }
  ShowEvents(events_, tx, referring);
  return effects;
}

}  // namespace tenure::queues
