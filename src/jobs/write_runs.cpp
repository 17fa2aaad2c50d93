#include "jobs/write_runs.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>
#include <utility>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "jobs_sql/queries.hpp"

namespace tenure::jobs {
namespace {

/// When somebody looks whether a run still has to wait.
constexpr std::int64_t kLookSoonMs = 50;
constexpr std::int64_t kLookMs = 1'000;

struct Item {
  const Ledger* ledger = nullptr;
  const NewRun* run = nullptr;

  auto Order() const {
    const JobKey& key = ledger->row().key;
    return std::tuple(run->nominal_ms, std::string_view(key.name), std::string_view(key.tenant));
  }
};

/// REQUIRES: `own` is an object as it is on record, or empty.
std::string HeadersOf(const JobRow& job, const NewRun& run, std::string_view own) {
  std::string headers;
  base::JsonWriter json(headers);
  json.BeginObject().Field("tenure-job", std::string_view(job.key.name));
  json.Key("tenure-nominal-time").Time(run.nominal_ms);
  json.Field("tenure-run", run.id).EndObject();
  if (own.size() > 2) {
    headers.back() = ',';
    headers += own.substr(1);
  }
  return headers;
}

messages::NewMessage MessageOf(const Item& item,
                               const std::map<base::Uuid, std::string>& payloads) {
  const JobRow& job = item.ledger->row();
  messages::NewMessage message;
  message.id = item.run->id;
  message.topic = job.definition.topic;
  message.payload = item.run->payload ? *item.run->payload : payloads.at(job.id);
  message.priority = job.definition.priority;
  message.headers = HeadersOf(job, *item.run, job.definition.headers);
  if (item.run->state == RunState::kWaiting) message.due_at_ms = messages::kWaitsForFollowerMs;
  return message;
}

std::set<base::Uuid> InsertRuns(db::Transaction& tx, const std::vector<Item>& items) {
  const std::int64_t now_ms = items.front().ledger->now_ms();
  const auto job_id = [](const Item& item) { return item.ledger->row().id; };
  const auto look_ms = [now_ms](const Item& item) {
    if (item.run->state != RunState::kWaiting) return std::int64_t{0};
    return now_ms + (item.ledger->must_look_soon() ? kLookSoonMs : kLookMs);
  };
  const auto sweep_ms = [now_ms](const Item& item) {
    return item.run->state == RunState::kSkipped ? now_ms : 0;
  };
  std::set<base::Uuid> made;
  for (const auto row :
       tx.Run(sql::kInsertRuns,
              db::Columns(
                  items, db::Inside(&Item::run, &NewRun::id), job_id,
                  db::Inside(&Item::run, &NewRun::nominal_ms, &NewRun::kind, &NewRun::state,
                             &NewRun::reason, &NewRun::blocker, &NewRun::first_ms, &NewRun::number),
                  look_ms, sweep_ms),
              now_ms))
    made.insert(row.Uuid(0));
  return made;
}

}  // namespace

std::map<base::Uuid, std::string> LoadPayloads(db::Transaction& tx,
                                               std::span<const Ledger* const> ledgers) {
  std::vector<base::Uuid> ids;
  for (const Ledger* ledger : ledgers)
    if (std::ranges::any_of(ledger->runs(), [](const NewRun& run) {
          return run.state != RunState::kSkipped && !run.payload;
        }))
      ids.push_back(ledger->row().id);
  std::map<base::Uuid, std::string> payloads;
  for (const auto row : tx.Run(sql::kLoadJobPayloads, db::Columns(ids, std::identity())))
    payloads[ids[row.ordinal()]] = row.Text(0);
  return payloads;
}

Written WriteRuns(db::Transaction& tx, std::span<const Ledger* const> ledgers,
                  const std::map<base::Uuid, std::string>& payloads, const Outbox& outbox) {
  std::vector<Item> items;
  for (const Ledger* ledger : ledgers)
    for (const NewRun& run : ledger->runs()) items.push_back({ledger, &run});
  Written written;
  written.decided_boot_ms = outbox.topic_cache.clock().BootMs();
  if (items.empty()) return written;
  std::ranges::stable_sort(items, {}, &Item::Order);
  const std::set<base::Uuid> made = InsertRuns(tx, items);

  std::map<std::string_view, messages::EnqueueRequest> by_tenant;
  for (const Item& item : items) {
    if (!made.contains(item.run->id)) continue;
    const JobRow& job = item.ledger->row();
    written.runs.push_back(*item.run);
    written.runs.back().payload.reset();
    if (item.run->state == RunState::kSkipped) continue;
    if (item.run->kind == RunKind::kSchedule)
      written.late_ms.push_back(item.ledger->now_ms() - item.run->nominal_ms -
                                item.ledger->DelayMs());
    messages::EnqueueRequest& request = by_tenant[job.key.tenant];
    request.tenant = job.key.tenant;
    messages::NewMessage message = MessageOf(item, payloads);
    // Each run is a trace of its own, which whoever handles its message goes on with.
    if (outbox.tracer && outbox.tracer->enabled()) {
      telemetry::Span span = outbox.tracer->Start("Job.Fire", std::nullopt);
      span.Set("job.name", job.key.name);
      span.Set("job.kind", ToText(item.run->kind));
      span.Set("job.nominal_time", base::UtcText(item.run->nominal_ms));
      if (const auto context = span.context()) message.trace = FormatTraceParent(*context);
      written.spans.push_back(std::move(span));
    }
    request.messages.push_back(std::move(message));
  }
  std::vector<const messages::EnqueueRequest*> requests;
  for (const auto& [tenant, request] : by_tenant) requests.push_back(&request);
  if (requests.empty()) return written;
  messages::Enqueuer enqueuer(outbox.topic_cache, outbox.process);
  enqueuer.Add(tx, requests);
  written.effect = enqueuer.effect();
  return written;
}

void Publish(const Written& written, messages::TopicCache& topic_cache, wake::Registry& wake,
             Probe& probe) {
  written.effect.Publish(topic_cache, wake);
  written.notifications.Signal(wake);
  if (written.has_nearer_look) wake.SignalAll(kLookKey);
  const std::int64_t since_ms = topic_cache.clock().BootMs() - written.decided_boot_ms;
  for (telemetry::Span& span : written.spans) {
    span.Set("job.result", "written");  // one without was not committed
    span.End();
  }
  for (const NewRun& run : written.runs) probe.Made(run);
  for (const std::int64_t late_ms : written.late_ms) probe.Late(late_ms + since_ms);
}

}  // namespace tenure::jobs
