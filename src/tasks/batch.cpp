#include "tasks/batch.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/json_writer.hpp"
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

TaskRow ReadRow(const db::Rows::Row& row, std::size_t first) {
  TaskRow task;
  task.interval_ms = row.Int(first);
  task.next_ms = row.Int(first + 1);
  task.not_before_ms = row.Int(first + 2);
  task.asked_ms = row.Int(first + 3);
  task.last_nominal_ms = row.Int(first + 4);
  task.last_started_ms = row.Int(first + 5);
  task.last_finished_ms = row.Int(first + 6);
  task.last_error = row.Text(first + 7);
  task.failures = row.Int(first + 8);
  task.runs = row.Int(first + 9);
  task.skipped = row.Int(first + 10);
  return task;
}

/// The tasks of a batch, each once, as columns.
struct Keys {
  explicit Keys(ChangeHandler::Items items) {
    std::set<TaskKey> unique;
    for (const auto* item : items) unique.insert(KeyOf(item->request));
    keys.assign(unique.begin(), unique.end());
    for (const TaskKey& key : keys) {
      tenants.push_back(key.tenant);
      names.push_back(key.name);
    }
  }
  std::map<TaskKey, TaskRow> Read(const db::Rows& rows) const {
    std::map<TaskKey, TaskRow> found;
    for (const auto row : rows) found.emplace(keys[row.ordinal()], ReadRow(row, 0));
    return found;
  }

  std::vector<TaskKey> keys;
  std::vector<std::string> tenants;
  std::vector<std::string> names;
};

void WriteSchedules(db::Transaction& tx, const std::map<TaskKey, Schedule>& schedules) {
  std::vector<std::string> tenants, names, errors;
  std::vector<std::int64_t> intervals, nexts, not_befores, asked, nominals, started, finished,
      failures, runs, skipped;
  for (const auto& [key, schedule] : schedules) {
    if (!schedule.changed()) continue;
    const TaskRow& row = schedule.row();
    tenants.push_back(key.tenant);
    names.push_back(key.name);
    intervals.push_back(row.interval_ms);
    nexts.push_back(row.next_ms);
    not_befores.push_back(row.not_before_ms);
    asked.push_back(row.asked_ms);
    nominals.push_back(row.last_nominal_ms);
    started.push_back(row.last_started_ms);
    finished.push_back(row.last_finished_ms);
    errors.push_back(row.last_error);
    failures.push_back(row.failures);
    runs.push_back(row.runs);
    skipped.push_back(row.skipped);
  }
  tx.Queue(sql::kWriteTasks, tenants, names, intervals, nexts, not_befores, asked, nominals,
           started, finished, errors, failures, runs, skipped);
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

db::Deed DeedOf(const TaskKey& key, const TriggerOutcome& outcome) {
  db::Deed deed{key.name, ""};
  base::JsonWriter json(deed.detail);
  json.BeginObject().Field("under_way", outcome.under_way);
  json.Key("nominal_at").Time(outcome.nominal_ms).EndObject();
  return deed;
}

}  // namespace

std::string WakeKey(const TaskKey& key) { return "task/" + key.tenant + '/' + key.name; }

/// A task that is not due needs no lock to be told so: `next_ms` moves back only by a trigger,
/// whose process tells everybody.
void ChangeHandler::ReadItems(db::Transaction& tx, Items items) {
  const Keys keys(items);
  const auto loading = tx.Queue(sql::kLoadTasks, keys.tenants, keys.names);
  const auto clock = tx.QueueClock();
  const auto found = keys.Read(tx.Take(loading));
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
  const Keys keys(items);
  leases::Ledgers ledgers(process_);
  for (const auto* item : items)
    ledgers.Want(KeyOf(item->request).LockKey(), TermOf(item->request),
                 leases::Ledgers::Use::kMayGrant);
  const auto opening = ledgers.Queue(tx);
  const auto loading = tx.Queue(sql::kLoadTasks, keys.tenants, keys.names);
  ledgers.Open(tx, opening);
  auto found = keys.Read(tx.Take(loading));

  std::map<TaskKey, Schedule> schedules;
  for (const TaskKey& key : keys.keys) {
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
    if (item->actor() && schedule.row() != before) item->Did(DeedOf(schedule.key(), *trigger));
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
    if (run) probe_.Began(KeyOf(item->request).name, *run, item->reply->first_run);
    const auto* finish = std::get_if<FinishCommand>(&item->request);
    if (finish && std::get<leases::FinishOutcome>(item->reply->outcome).accepted)
      probe_.Finished(finish->key.name, finish->error.has_value());
  }
}

void ListHandler::ReadItems(db::Transaction& tx, Items items) {
  for (auto* item : items) {
    const auto listing = tx.Queue(sql::kListTasks, std::string_view(item->request.tenant));
    const auto clock = tx.QueueClock();
    const db::Rows rows = tx.Take(listing);
    ListReply reply;
    reply.now_ms = tx.TakeClock(clock);
    for (const auto row : rows) {
      TaskView view;
      view.name = row.Text(0);
      view.row = ReadRow(row, 1);
      if (row.Int(15) > reply.now_ms) {
        view.holder = row.Text(12);
        view.fence = row.Int(13);
        view.locked_ms = row.Int(14);
        view.lock_expires_ms = row.Int(15);
      }
      reply.tasks.push_back(std::move(view));
    }
    item->reply = std::move(reply);
  }
}

}  // namespace tenure::tasks
