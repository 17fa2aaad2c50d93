// What is wrong on purpose, and users' own transactions.
#include <fmt/format.h>

#include "messages_sql/queries.hpp"
#include "queues_sql/queries.hpp"
#include "stepped/queue_step_run.hpp"

namespace tenure::stepped {
namespace {

const db::Query kUsersSend{"stepped.queue_send",
                           "select 1::bigint from tenure.queue_send('q', $1::text, "
                           "to_jsonb($2::bigint), tenant => $3::text)",
                           ""};
const db::Query kUsersComplete{
    "stepped.queue_complete",
    "select 1::bigint from (select tenure.queue_complete($1::text::uuid, $2::bigint, $3::bigint, "
    "null, $4::text)) as c",
    ""};
const db::Query kNumberNow{"stepped.queue_number", "set constraints all immediate", ""};

/// What only whoever holds the bots lock may do.
const db::Query kEnterStaged{
    "stepped.enter_staged",
    "with s as (select s.session_id, s.next, s.key, q.tenant, q.name from tenure.queue_sessions s "
    "join tenure.queues q on q.queue_id = s.queue_id where s.session_id = $1::uuid "
    "and s.generation < q.generation for update of s), "
    "mine as (delete from tenure.queue_staged t using s where t.tenant = s.tenant "
    "and t.queue = s.name and t.key = s.key and t.number > 0 returning t.id, t.number, t.payload), "
    "put as (insert into tenure.queue_messages select s.session_id, "
    "s.next - 1 + row_number() over (order by mine.number), mine.id, null, 0, mine.payload, 1, '', "
    "'', '', 1, 0, null, '' from s, mine returning sequence) "
    "update tenure.queue_sessions t set next = t.next + (select count(*) from put) from s "
    "where t.session_id = s.session_id",
    ""};

/// What stands in a function of the schema, replaced.
std::string Replaced(std::string_view function, std::string_view part, std::string_view by) {
  return fmt::format(
      "do $do$ begin execute replace(pg_get_functiondef('tenure.{}'::regproc), '{}', '{}'); end "
      "$do$",
      function, part, by);
}

}  // namespace

void UsersTurnHandler::WriteItems(db::Transaction& tx, Items items) {
  for (auto* item : items) {
    const UsersTurn& turn = item->request;
    const std::string_view tenant = turn.tenant;
    if (turn.fence > 0)
      tx.Run(kUsersComplete, std::string_view(turn.session.ToString()), turn.fence, turn.sequence,
             tenant);
    else
      tx.Run(kUsersSend, std::string_view(turn.key), turn.number, tenant);
    if (turn.constrains_now) tx.Run(kNumberNow);
    tx.TakeClock(tx.QueueClock());  // further steps at which it may be paused
    tx.TakeClock(tx.QueueClock());
    if (turn.rolls_back) throw base::Fault(UsersTurn::kTakenBack, "rolled back");
    item->reply = UsersTurnReply();
  }
}

void EnterStagedHandler::WriteItems(db::Transaction& tx, Items items) {
  for (auto* item : items) {
    tx.Run(kEnterStaged, item->request.session);
    item->reply = EnterStagedReply();
  }
}

QueueStepRun::QueueStepRun(QueueBug planted)
    : Frame({.queries = QueriesOf({queues::sql::All(), messages::sql::All()},
                                  {&kUsersSend, &kUsersComplete, &kNumberNow, &kEnterStaged}),
             .tables = {"queues", "queue_gates", "queue_sessions", "queue_messages", "queue_dead",
                        "queue_counters", "queue_staged", "queue_marks", "queue_completions"},
             .batches = 5,
             .odds = {.crash_percent = 1, .pause_percent = 4},
             .ahead_of_postgres = true}),
      planted_(planted) {
  namespace sql = queues::sql;
  using enum QueueBug;
  Plant(sql::kLockBots, "'2000'", "'0'");  // real time must decide nothing here
  const auto plant_no_lock = [this] {
    Plant(sql::kLockOpenSessions, "do update set activity_ms = 0 where false", "do nothing");
  };
  switch (planted) {
    case kSendWithoutLock:
      plant_no_lock();
      break;
    case kNextWithTheLock:
      plant_no_lock();
      Plant(sql::kLoadSessions, "s.next, s.head",
            "case when s.next = 0 then 0 else (select coalesce(max(m.sequence), 0) + 1 from "
            "tenure.queue_messages m where m.session_id = s.session_id) end, s.head");
      Plant(sql::kLoadSessions, "on k.session_id = any (array[s.session_id])",
            "on k.session_id = any (array[s.session_id]) for no key update of s");
      break;
    case kNumbersOfASequence:
      plant_no_lock();
      tables().Ask("create sequence stepped_numbers");
      Plant(sql::kLoadSessions, "s.next, s.head",
            "case when s.next = 0 then 0 else greatest(s.next, nextval('public.stepped_numbers')) "
            "end, s.head");
      break;
    case kAcceptWithoutLock:
      Plant(sql::kSeizeReady, "for update skip locked", "");
      break;
    case kCompleteWithoutLock:
      Plant(sql::kLockSessions, "for no key update of s", "");
      break;
    case kNoGate:
      Plant(sql::kLockGates, "for update of g", "");
      break;
    case kHoldsWithTheGate:
      Plant(sql::kLockGates, "for update of g", "");
      Plant(sql::kSumCounters, "join tenure.queue_counters c",
            "cross join lateral (select g.queue_id from tenure.queue_gates g where g.queue_id = "
            "item.queue_id for update of g) as gate join tenure.queue_counters c");
      break;
    case kOlderCap:
      Plant({sql::kLockBotsShared.name, "select ''::text", ""});
      break;
    case kCountersApart:
      Plant({sql::kAddCounters.name,
             "select 1::bigint from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[], "
             "$5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])",
             ""});
      break;
    case kMarkNotRead:
      Plant(sql::kLoadSessions, "on k.session_id = any (array[s.session_id])", "on false");
      Plant(sql::kLoadMarks, "tenure.queue_marks",
            "(select * from tenure.queue_marks where false)");
      break;
    case kMarkNotCompared:
      tables().Ask(Replaced("mark_completed", "or s.fence <> new.fence", ""));
      break;
    case kMarkWithoutKeyShare:
      tables().Ask(Replaced("mark_completed", "for key share", ""));
      break;
    case kStagedPassedOver:
      plant_no_lock();
      Plant(sql::kLoadStaged, "limit $4::bigint", "limit $4::bigint for update of s skip locked");
      break;
    case kGenerationTooEarly:
      Plant(sql::kSumCounters, "sum(c.messages)::bigint", "0::bigint");
      break;
    default:
      break;
  }
}

bool QueueStepRun::IsStranger(const Process& process) const {
  return process.queries.contains(kUsersSend.name) || process.queries.contains(kUsersComplete.name);
}

/// What a user sends is sent by its COMMIT.
void QueueStepRun::OnStep(Process& process, std::string_view step) {
  if (step != "commit" || !process.queries.contains(kUsersSend.name)) return;
  for (const std::int64_t number : committing_[process.index()]) asked_[number] = commit_;
  committing_[process.index()].clear();
}

}  // namespace tenure::stepped
