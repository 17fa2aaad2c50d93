#include "jobs/change.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "db/keys.hpp"
#include "jobs/fields.hpp"
#include "jobs/run_ends.hpp"
#include "jobs_sql/queries.hpp"

namespace tenure::jobs {
namespace {

using Kind = JobOutcome::Kind;

const JobKey& KeyOf(const JobCommand& command) {
  return std::visit([](const auto& one) -> const JobKey& { return one.key; }, command);
}

/// One transaction of commands.
class ChangeBatch {
 public:
  using Items = ChangeHandler::Items;

  ChangeBatch(std::shared_ptr<const calendar::Zones> zones, const ChangeLimits& limits,
              const Outbox& outbox)
      : zones_(std::move(zones)), limits_(limits), outbox_(outbox) {}

  Written Run(db::Transaction& tx, Items items) {
    Open(tx, items);
    for (auto* item : items) {
      Entry& entry = entries_.at(KeyOf(item->request));
      // What is made anew after it was deleted is the next batch: it is another row.
      if (entry.is_deleted && std::holds_alternative<PutCommand>(item->request)) continue;
      item->reply = Decide(tx, entry, *item);
    }
    return Apply(tx);
  }

 private:
  struct Entry {
    std::unique_ptr<Ledger> ledger{};
    JobRow before{};
    bool is_new = false;      ///< its row was made by this transaction
    bool is_deleted = false;  ///< by this transaction
  };

  /// New rows, locks, what is there, then the clock: each a statement of its own (docs/ground.md).
  void Open(db::Transaction& tx, Items items) {
    std::set<JobKey> put;
    for (const auto* item : items)
      if (std::holds_alternative<PutCommand>(item->request)) put.insert(KeyOf(item->request));
    const auto keys = db::KeysOf(items, KeyOf);
    const auto id = [this](const JobKey&) {
      return base::Uuid::V7(outbox_.topic_cache.clock().WallMs());
    };
    tx.Queue(sql::kAddJobs, db::Columns(put, id, kJobKeyColumns));
    std::vector<JobRow> rows;
    std::vector<base::Uuid> ids;
    for (const auto row : tx.Run(sql::kLockJobs, db::Columns(keys, kJobKeyColumns))) {
      rows.push_back(db::ReadAs<JobRow>(row, kJobColumns));
      ids.push_back(rows.back().id);
    }
    const auto payloads = tx.Queue(sql::kLoadJobPayloads, db::Columns(ids, std::identity()));
    for (const auto row : tx.Take(payloads)) rows[row.ordinal()].definition.payload = row.Text(0);
    const std::vector<LiveRuns> live = LoadLive(tx, ids);
    now_ms_ = tx.TakeClock(tx.QueueClock());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Entry& entry = entries_[rows[i].key];
      entry.before = rows[i];
      entry.is_new = rows[i].revision == 0;
      entry.ledger = std::make_unique<Ledger>(
          rows[i], live[i], Times::Of(rows[i].definition, rows[i].created_ms, *zones_),
          limits_.rules, now_ms_);
      if (Ledger::MayHaveAhead(rows[i])) entry.ledger->KnowAhead(LoadAhead(tx, rows[i]));
    }
    for (const JobKey& key : keys) entries_.try_emplace(key);
    // Its row was there when new ones were made, and was deleted while its lock was waited for.
    for (const JobKey& key : put)
      if (!entries_.at(key).ledger)
        throw base::Fault(base::FaultKind::kSerialization, "a job was deleted at the same time");
  }

  static std::int64_t BytesOfRun(const JobRow& row) {
    return std::ssize(row.definition.payload) + kRunBytes;
  }
  static bool IsThere(const Entry& entry) {
    return entry.ledger && !entry.is_deleted && entry.ledger->row().revision > 0;
  }

  template <class Item>
  JobOutcome Decide(db::Transaction& tx, Entry& entry, Item& item) {
    JobOutcome outcome = std::visit(
        [&](const auto& command) { return Carry(tx, entry, item, command); }, item.request);
    outcome.now_ms = now_ms_;
    if (entry.ledger) outcome.revision = entry.ledger->row().revision;
    return outcome;
  }

  template <class Item>
  JobOutcome Carry(db::Transaction& tx, Entry& entry, Item& item, const PutCommand& put) {
    if (put.is_new && *put.is_new == IsThere(entry)) return {.kind = Kind::kOtherThanSeen};
    if (!IsThere(entry)) return Create(tx, entry, item, put);
    Ledger& ledger = *entry.ledger;
    if (put.if_revision && *put.if_revision != ledger.row().revision)
      return {.kind = Kind::kOtherRevision};
    if (ledger.row().origin == Origin::kFile && put.origin == Origin::kApi)
      return {.kind = Kind::kOwnedByFile};
    const Definition before = ledger.row().definition;
    const bool is_taken_over = ledger.row().origin != put.origin;
    if (is_taken_over) ledger.BelongTo(put.origin);
    if (!ledger.Change(put.definition,
                       Times::Of(put.definition, ledger.row().created_ms, *zones_)) &&
        !is_taken_over)
      return {.kind = Kind::kUnchanged};
    item.Did({put.key.name, DifferencesJson(before, ledger.row().definition)});
    return {.kind = Kind::kDone};
  }

  template <class Item>
  JobOutcome Create(db::Transaction& tx, Entry& entry, Item& item, const PutCommand& put) {
    if (put.if_revision) return {.kind = Kind::kOtherRevision};
    const std::int64_t jobs =
        tx.Run(sql::kCountJobsOf, std::string_view(put.key.tenant), limits_.most_jobs + 1)[0].Int(
            0);
    // Its own row is among them.
    if (jobs > limits_.most_jobs) return {.kind = Kind::kTooManyJobs};
    JobRow row = entry.ledger->row();
    row.definition = put.definition;
    entry.ledger = std::make_unique<Ledger>(
        row, LiveRuns(), Times::Of(put.definition, now_ms_, *zones_), limits_.rules, now_ms_);
    entry.ledger->Begin(put.origin);
    item.Did({put.key.name, DifferencesJson(Definition(), put.definition)});
    return {.kind = Kind::kCreated};
  }

  template <class Item>
  JobOutcome Carry(db::Transaction& tx, Entry& entry, Item& item, const DeleteCommand& command) {
    if (!IsThere(entry)) return {.kind = Kind::kNoJob};
    if (entry.ledger->row().origin == Origin::kFile && command.origin == Origin::kApi)
      return {.kind = Kind::kOwnedByFile};
    entry.is_deleted = true;
    std::vector<base::Uuid> open;
    for (const auto row : tx.Run(sql::kListOpenRuns, entry.ledger->row().id))
      open.push_back(row.Uuid(0));
    const std::vector<base::Uuid> withdrawn = messages::Withdraw(tx, open);
    tx.Queue(sql::kDropRuns, db::Columns(withdrawn, std::identity()));
    std::string detail;
    base::JsonWriter(detail)
        .BeginObject()
        .Field("id", entry.ledger->row().id)
        .Field("runs_withdrawn", withdrawn.size())
        .EndObject();
    item.Did({command.key.name, detail});
    return {.kind = Kind::kDone};
  }

  template <class Item>
  JobOutcome Carry(db::Transaction&, Entry& entry, Item& item, const PauseCommand& pause) {
    if (!IsThere(entry)) return {.kind = Kind::kNoJob};
    const JobRow before = entry.ledger->row();
    entry.ledger->Pause(pause.reason, pause.until_ms);
    const JobRow& after = entry.ledger->row();
    if (before.paused_ms == after.paused_ms && before.paused_reason == after.paused_reason &&
        before.paused_until_ms == after.paused_until_ms)
      return {.kind = Kind::kUnchanged};
    std::string detail;
    base::JsonWriter json(detail);
    json.BeginObject().Field("reason", std::string_view(pause.reason)).Key("until");
    json.TimeOrNull(pause.until_ms).EndObject();
    item.Did({pause.key.name, detail});
    return {.kind = Kind::kDone};
  }

  template <class Item>
  JobOutcome Carry(db::Transaction&, Entry& entry, Item& item, const ResumeCommand& resume) {
    if (!IsThere(entry)) return {.kind = Kind::kNoJob};
    const std::int64_t each = BytesOfRun(entry.ledger->row());
    if (!entry.ledger->Resume(
            static_cast<std::size_t>(std::max<std::int64_t>(1, kFireBytes / each))))
      return {.kind = Kind::kUnchanged};
    item.Did({resume.key.name, "{}"});
    return {.kind = Kind::kDone};
  }

  template <class Item>
  JobOutcome Carry(db::Transaction&, Entry& entry, Item& item, const TriggerCommand& trigger) {
    if (!IsThere(entry)) return {.kind = Kind::kNoJob};
    const base::Uuid run = entry.ledger->Trigger(trigger.payload);
    std::string detail;
    base::JsonWriter(detail).BeginObject().Field("run", run).EndObject();
    item.Did({trigger.key.name, detail});
    return {.kind = Kind::kDone, .run = run};
  }

  template <class Item>
  JobOutcome Carry(db::Transaction& tx, Entry& entry, Item& item, const BackfillCommand& command) {
    if (!IsThere(entry)) return {.kind = Kind::kNoJob};
    Ledger& ledger = *entry.ledger;
    if (command.to_ms > now_ms_) return {.kind = Kind::kAhead};
    if (command.from_ms < now_ms_ - limits_.retention_ms) return {.kind = Kind::kForgotten};
    if (ledger.times() && ledger.times()->Count(command.from_ms, command.to_ms) > command.most)
      return {.kind = Kind::kTooManyTimes};
    std::set<std::int64_t> had;
    for (const auto row :
         tx.Run(sql::kListNominals, ledger.row().id, command.from_ms, command.to_ms))
      had.insert(row.Int(0));
    if (ledger.times()) {
      const auto named = ledger.times()->List(command.from_ms, command.to_ms,
                                              static_cast<std::size_t>(command.most));
      const auto missing = std::ranges::count_if(
          named, [&](const calendar::Occurrence& at) { return !had.contains(at.time_ms); });
      if (missing * BytesOfRun(ledger.row()) > kMaxBackfillBytes)
        return {.kind = Kind::kTooManyBytes};
    }
    const auto backfilled = ledger.Backfill(command.from_ms, command.to_ms, had);
    if (backfilled.runs == 0) return {.kind = Kind::kUnchanged, .backfilled = backfilled};
    std::string detail;
    base::JsonWriter json(detail);
    json.BeginObject().Key("from").Time(command.from_ms).Key("to").Time(command.to_ms);
    json.Field("runs", backfilled.runs).Field("skipped", backfilled.skipped).EndObject();
    item.Did({command.key.name, detail});
    return {.kind = Kind::kDone, .backfilled = backfilled};
  }

  template <class Item>
  JobOutcome Carry(db::Transaction& tx, Entry& entry, Item& item, const RecomputeCommand& command) {
    if (!IsThere(entry)) return {.kind = Kind::kNoJob};
    const std::int64_t before_ms = entry.ledger->row().next_ms;
    const db::Rows decided = tx.Run(sql::kLastDecided, entry.ledger->row().id);
    if (!entry.ledger->Recompute(decided.empty() ? 0 : decided[0].Int(0)))
      return {.kind = Kind::kUnchanged};
    std::string detail;
    base::JsonWriter json(detail);
    json.BeginObject().Key("old").TimeOrNull(before_ms).Key("new");
    json.TimeOrNull(entry.ledger->row().next_ms).Field("tzdata", zones_->version()).EndObject();
    item.Did({command.key.name, detail});
    return {.kind = Kind::kDone};
  }

  Written Apply(db::Transaction& tx) {
    std::vector<const Ledger*> decided, rewritten;
    std::vector<base::Uuid> dropped;
    std::map<base::Uuid, std::string> payloads;
    bool is_nearer = false;
    for (const auto& [key, entry] : entries_) {
      if (!entry.ledger) continue;
      const JobRow& row = entry.ledger->row();
      if (entry.is_deleted || row.revision == 0) {
        dropped.push_back(row.id);
        continue;
      }
      decided.push_back(entry.ledger.get());
      payloads[row.id] = row.definition.payload;
      if (entry.is_new || row.revision != entry.before.revision)
        rewritten.push_back(entry.ledger.get());
      is_nearer |= row.look_ms > 0 && row.look_ms != entry.before.look_ms;
    }
    Written written = WriteRuns(tx, decided, payloads, outbox_);
    written.has_nearer_look = is_nearer;
    const auto columns = [](auto member) { return db::Inside(&Ledger::row, member); };
    tx.Queue(sql::kWriteJobs,
             db::Columns(
                 rewritten, columns(&JobRow::id),
                 columns(db::Members(db::Inside(&JobRow::definition, kDefinitionColumns))),
                 columns(db::Members(db::Inside(&JobRow::definition, &Definition::payload))),
                 columns(&JobRow::origin), columns(&JobRow::revision), columns(&JobRow::created_ms),
                 columns(&JobRow::changed_ms), columns(&JobRow::since_ms),
                 columns(&JobRow::next_ms), columns(&JobRow::look_ms), columns(&JobRow::paused_ms),
                 columns(&JobRow::paused_until_ms), columns(&JobRow::paused_reason)));
    tx.Queue(sql::kAdvanceJobs,
             db::Columns(decided, db::Inside(&Ledger::row, &JobRow::id, &JobRow::revision,
                                             &JobRow::next_ms, &JobRow::look_ms, &JobRow::paused_ms,
                                             &JobRow::paused_until_ms, &JobRow::paused_reason)));
    tx.Queue(sql::kDropJobs, db::Columns(dropped, std::identity()));
    return written;
  }

  const std::shared_ptr<const calendar::Zones> zones_;
  const ChangeLimits& limits_;
  const Outbox& outbox_;
  std::map<JobKey, Entry> entries_;
  std::int64_t now_ms_ = 0;
};

}  // namespace

std::size_t ChangeHandler::KeyHash(const JobCommand& command) const {
  const JobKey& key = KeyOf(command);
  return std::hash<std::string>()(key.name) * 31 + std::hash<std::string>()(key.tenant);
}

Written ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  return ChangeBatch(zones_.Get(), limits_, outbox_).Run(tx, items);
}

void ChangeHandler::DoneItems(Items, const Written& written) {
  Publish(written, outbox_.topic_cache, wake_, probe_);
}

}  // namespace tenure::jobs
