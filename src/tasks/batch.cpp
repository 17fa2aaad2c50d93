#include "tasks/batch.hpp"

#include <algorithm>
#include <map>

#include "base/json_writer.hpp"
#include "db/keys.hpp"
#include "db_sql/queries.hpp"
#include "leases/batch.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::tasks {
namespace {

const TaskKey& KeyOf(const Command& command) {
  return std::visit([](const auto& one) -> const TaskKey& { return one.key; }, command);
}

const base::Uuid* TermOf(const Command& command) {
  if (const auto* claim = std::get_if<ClaimCommand>(&command)) return &claim->term;
  if (const auto* finish = std::get_if<FinishCommand>(&command)) return &finish->term;
  return nullptr;
}

/// As the queries read and write them.
constexpr auto kRowColumns = db::Members(
    &TaskRow::interval_ms, &TaskRow::next_ms, &TaskRow::not_before_ms, &TaskRow::asked_ms,
    &TaskRow::last_nominal_ms, &TaskRow::last_started_ms, &TaskRow::last_finished_ms,
    &TaskRow::last_error, &TaskRow::failures, &TaskRow::runs, &TaskRow::skipped);
constexpr auto kKeyColumns = db::Members(&TaskKey::tenant, &TaskKey::name);

using Keys = db::UniqueKeys<TaskKey>;

std::map<TaskKey, TaskRow> ReadTasks(const Keys& keys, const db::Rows& rows) {
  std::map<TaskKey, TaskRow> found;
  for (const auto row : rows)
    found.emplace(keys[row.ordinal()], db::ReadAs<TaskRow>(row, kRowColumns));
  return found;
}

void WriteSchedules(db::Transaction& tx, const std::map<TaskKey, Schedule>& schedules) {
  std::vector<const Schedule*> changed;
  for (const auto& [key, schedule] : schedules)
    if (schedule.changed()) changed.push_back(&schedule);
  tx.Queue(sql::kWriteTasks, db::Columns(changed, db::Inside(&Schedule::key, kKeyColumns),
                                         db::Inside(&Schedule::row, kRowColumns)));
}

Outcome Decide(Schedule& schedule, const Command& command, std::int64_t begun_boot_ms) {
  if (const auto* claim = std::get_if<ClaimCommand>(&command)) {
    leases::ClaimOutcome outcome = schedule.Claim(*claim);
    if (auto* run = std::get_if<leases::TaskRun>(&outcome))
      run->lock.waited =
          leases::Milliseconds(std::max<std::int64_t>(0, begun_boot_ms - claim->received_boot_ms));
    return outcome;
  }
  if (const auto* finish = std::get_if<FinishCommand>(&command)) return schedule.Finish(*finish);
  return schedule.Trigger();
}

db::AuditEvent AuditEventOf(const TaskKey& key, const TriggerOutcome& outcome) {
  db::AuditEvent event{key.name, ""};
  base::JsonWriter json(event.detail);
  json.BeginObject().Field("under_way", outcome.under_way);
  json.Key("nominal_at").Time(outcome.nominal_ms).EndObject();
  return event;
}

}  // namespace

std::size_t ChangeHandler::KeyHash(const Command& command) const {
  return leases::LeaseKeyHash()(KeyOf(command).LockKey());
}

std::string WakeKey(const TaskKey& key) { return "task/" + key.tenant + '/' + key.name; }

/// A task that is not due needs no lock to be told so: `next_ms` moves back only by a trigger,
/// whose process tells everybody.
void ChangeHandler::ReadItems(db::Transaction& tx, Items items) {
  const Keys keys = db::KeysOf(items, KeyOf);
  const auto loading = tx.Queue(sql::kLoadTasks, db::Columns(keys, kKeyColumns));
  const auto clock = tx.QueueClock();
  const auto found = ReadTasks(keys, tx.Take(loading));
  const std::int64_t now_ms = tx.TakeClock(clock);
  for (auto* item : items) {
    const auto* claim = std::get_if<ClaimCommand>(&item->request);
    if (!claim) continue;
    const auto row = found.find(claim->key);
    if (row == found.end() || row->second.interval_ms != claim->interval_ms) continue;
    const std::int64_t due_ms = DueMs(row->second);
    if (now_ms < due_ms)
      item->reply = ChangeReply{leases::ClaimOutcome(NotDue(due_ms - now_ms)), false};
  }
}

void ChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t begun_boot_ms = clock_.BootMs();
  const Keys keys = db::KeysOf(items, KeyOf);
  leases::Ledgers ledgers(process_);
  for (const auto* item : items)
    ledgers.Want(KeyOf(item->request).LockKey(), TermOf(item->request),
                 leases::Ledgers::Use::kMayGrant);
  const auto opening = ledgers.Queue(tx);
  const auto loading = tx.Queue(sql::kLoadTasks, db::Columns(keys, kKeyColumns));
  ledgers.Open(tx, opening);
  auto found = ReadTasks(keys, tx.Take(loading));

  std::map<TaskKey, Schedule> schedules;
  for (const TaskKey& key : keys) {
    std::optional<TaskRow> row;
    if (const auto at = found.find(key); at != found.end()) row = std::move(at->second);
    schedules.emplace(key,
                      Schedule(key, std::move(row), ledgers.At(key.LockKey()), ledgers.now_ms()));
  }
  std::vector<std::string> triggered;
  for (auto* item : items) {
    Schedule& schedule = schedules.at(KeyOf(item->request));
    const bool first_run = schedule.row().last_started_ms == 0;
    const TaskRow before = item->actor() ? schedule.row() : TaskRow();
    item->reply = ChangeReply{Decide(schedule, item->request, begun_boot_ms), first_run};
    const auto* trigger = std::get_if<TriggerOutcome>(&item->reply->outcome);
    if (!trigger || !trigger->known) continue;
    triggered.push_back(WakeKey(schedule.key()));
    // Who asks once more for a run that is due already changes nothing.
    if (item->actor() && schedule.row() != before)
      item->Did(AuditEventOf(schedule.key(), *trigger));
  }
  ledgers.Apply(tx);
  WriteSchedules(tx, schedules);
  // Seldom: a person asked for it.
  tx.Queue(db::sql::kNotify, triggered);
}

void ChangeHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    if (std::holds_alternative<TriggerCommand>(item->request))
      wake_.SignalAll(WakeKey(KeyOf(item->request)));
    const auto* claim = std::get_if<leases::ClaimOutcome>(&item->reply->outcome);
    const auto* run = claim ? std::get_if<leases::TaskRun>(claim) : nullptr;
    if (run) probe_.Began(KeyOf(item->request), *run, item->reply->first_run);
    const auto* finish = std::get_if<FinishCommand>(&item->request);
    if (finish && std::get<leases::FinishOutcome>(item->reply->outcome).accepted)
      probe_.Finished(finish->key, finish->error.has_value());
  }
}

std::optional<base::StoredAnswer> TriggerAnswer(const TriggerOutcome& outcome) {
  if (!outcome.known) return std::nullopt;
  base::StoredAnswer answer{.status = 202};
  base::JsonWriter json(answer.body);
  json.BeginObject().Field("under_way", outcome.under_way);
  json.Key("nominal_at").Time(outcome.nominal_ms);
  json.EndObject();
  return answer;
}

void ListTasks(db::Transaction& tx, db::Items<std::string, ListReply> tenants) {
  for (auto* item : tenants) {
    const auto listing = tx.Queue(sql::kListTasks, std::string_view(item->request));
    const auto clock = tx.QueueClock();
    const db::Rows rows = tx.Take(listing);
    ListReply reply;
    reply.now_ms = tx.TakeClock(clock);
    for (const auto row : rows) {
      TaskView view;
      db::ReadInto(view, row, 0, &TaskView::name, db::Inside(&TaskView::row, kRowColumns));
      if (row.Int(15) > reply.now_ms)
        db::ReadInto(view, row, 12, &TaskView::holder, &TaskView::fence, &TaskView::locked_ms,
                     &TaskView::lock_expires_ms);
      reply.tasks.push_back(std::move(view));
    }
    item->reply = std::move(reply);
  }
}

db::Swept ForgetUnusedTasks(db::Transaction& tx, const ForgetTasksRequest& request,
                            std::int64_t now_ms) {
  return db::Swept().Add(
      tx.Run(sql::kForgetTasks, now_ms - request.retention_ms, db::kSweepRows).size());
}

}  // namespace tenure::tasks
