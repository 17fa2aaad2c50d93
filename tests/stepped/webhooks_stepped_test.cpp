// Webhooks under the stepped scheduler: Q2, and one file for each event, while files change, deliveries
// are repeated and processes crash between any two statements; and planted bugs that must be found.

#include <map>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "stepped/frame.hpp"
#include "webhooks/test_process.hpp"

namespace tenure::stepped {
namespace {

using webhooks::ReceiveReply;

/// What is wrong on purpose.
enum class HookBug { kNothing, kRevisionBeforeLock, kDedupApart };

const db::Query kNoShare{"webhooks.share_bots", "select ''::text", ""};
/// The delivery's key is written by a transaction of its own, behind that of the event.
const db::Query kPutKeysAside{
    "webhooks.write_deliveries",
    "insert into stepped_keys (source, hook, delivery_id, event_id, received_ms) select item.*, "
    "$5::bigint from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) as item (source, hook, "
    "delivery_id, event_id)",
    ""};
const db::Query kWriteKeys{
    "stepped.write_keys",
    "with mine as (delete from stepped_keys where pid = pg_backend_pid() returning *) "
    "update tenure.webhook_deliveries d set event_id = mine.event_id, received_ms = "
    "mine.received_ms from mine where d.source = mine.source and d.hook = mine.hook and "
    "d.delivery_id = mine.delivery_id",
    ""};

struct WriteKeysRequest {};
struct WriteKeysReply {};
class WriteKeysHandler final : public db::TypedHandler<WriteKeysRequest, WriteKeysReply> {
 public:
  std::string_view name() const override { return "stepped.write_keys"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    tx.Queue(kWriteKeys);
    for (auto* item : items) item->reply = WriteKeysReply();
  }
};

struct HookServer final : Server {
  explicit HookServer(Process& its)
      : process(its),
        messages(its.store(), its.wake(), its.name(), its.clock(), its.metrics()),
        queues(its.store(), its.wake(), messages, its.clock()),
        webhooks(its.store(), its.wake(), messages, its.metrics(), {.dedup_ms = kNeverMs}) {}

  Process& process;
  messages::Messages messages;
  queues::Queues queues;
  webhooks::Webhooks webhooks;
};

/// A delivery that was sent, perhaps several times.
struct Delivery {
  std::string id;
  int issue = 0;
  int sent = 0;      ///< for the first time; of all that was sent and answered
  int answered = 0;  ///< for the first time; 0: it never was
};

class HookRun final : public Frame {
 public:
  explicit HookRun(HookBug planted)
      : Frame({.queries = QueriesOf(
                   {webhooks::sql::All(), queues::sql::All(), messages::sql::All()}, {&kWriteKeys}),
               .tables = {"bot_files", "webhook_deliveries", "webhook_events", "webhook_payloads",
                          "webhook_references", "queues", "queue_gates", "queue_counters",
                          "queue_sessions", "queue_messages", "messages"},
               .batches = 6,
               .odds = {.crash_percent = 2}}),
        planted_(planted) {
    // Real time must decide nothing here.
    Plant(webhooks::sql::kLockBots, "'2000'", "'0'");
    Plant(queues::sql::kLockBots, "'2000'", "'0'");
    if (planted == HookBug::kRevisionBeforeLock) Plant(kNoShare);
    if (planted == HookBug::kDedupApart) Plant(kPutKeysAside);
    tables().Ask(
        "create table stepped_keys (source text, hook text, delivery_id text, event_id uuid, "
        "received_ms bigint, pid int default pg_backend_pid())");
  }

 private:
  /// Each has one bot, so each event becomes one message.
  static constexpr const char* kBots[] = {"{name: b, events: [issues], ordering_scope: entity}",
                                          "{name: b, events: [issues], ordering_scope: repository}",
                                          "{name: c, events: [issues], ordering_scope: none}"};

  std::unique_ptr<Server> Boot(Process& process) override {
    // What a process had in mind to do later died with it. (Its connection, and so its pid, rest.)
    if (planted_ == HookBug::kDedupApart)
      tables().Ask(
          "delete from stepped_keys where ctid = any (array(select ctid from stepped_keys for "
          "update skip locked))");
    return std::make_unique<HookServer>(process);
  }
  void Begin() override {
    deliveries_.clear();
    seen_.clear();
    moment_ = 0;
    Ask<webhooks::ApplyReply>([&](Process& process, auto done) {
      ServerOf<HookServer>(process).webhooks.Apply(FileOf(0), std::move(done));
    });
  }

  webhooks::ApplyRequest FileOf(std::size_t which) const {
    auto request = webhooks::TestProcess::Request(
        fmt::format("tenant: {}\nsources: [{{name: github, secrets: [{{env: S}}]}}]\nbots: [{}]\n",
                    tenant(), kBots[which]));
    return request;
  }

  void Submit(Process& process) override {
    auto& server = ServerOf<HookServer>(process);
    const auto roll = Random(100);
    if (roll < 20) return server.webhooks.Apply(FileOf(Random(std::size(kBots))), Expected());
    if (roll < 30) return SubmitAccept(server);
    for (auto count = 1 + Random(3); count > 0; --count) SubmitDelivery(server);
  }

  void SubmitDelivery(HookServer& server) {
    std::size_t which = deliveries_.size();
    if (which > 0 && Chance(40))
      which -= 1 + Random(std::min<std::size_t>(which, 4));
    else
      deliveries_.push_back(
          {fmt::format("d{}", which), 1 + static_cast<int>(Random(2)), ++moment_});
    const Delivery& delivery = deliveries_[which];
    const std::string body = fmt::format(
        R"({{"issue":{{"number":{}}},"repository":{{"id":1,"full_name":"a/b"}}}})", delivery.issue);
    server.webhooks.Receive({webhooks::Made({.id = delivery.id, .body = body})},
                            [this, &server, which](const db::Result<ReceiveReply>& result) {
                              if (!Expect(result)) return;
                              if (result.value().kind != ReceiveReply::Kind::kStored)
                                Violation("a source was not known that is in every file");
                              if (deliveries_[which].answered == 0)
                                deliveries_[which].answered = ++moment_;
                              if (planted_ == HookBug::kDedupApart && !result.value().duplicate)
                                server.process.store().Submit(write_keys_, nullptr,
                                                              WriteKeysRequest(), Expected());
                            });
  }

  /// A consumer that completes all that it gets.
  void SubmitAccept(HookServer& server) {
    queues::AcceptRequest request;
    request.tenant = tenant();
    request.queue = "b";
    request.consumer = server.process.name();
    request.max_sessions = 4;
    server.queues.Accept(request, nullptr,
                         [this, &server](const db::Result<queues::AcceptReply>& result) {
                           if (!Expect(result)) return;
                           queues::ReportRequest report{tenant(), "b", {}};
                           for (const queues::HeldSession& held : result.value().sessions)
                             report.items.push_back({.kind = queues::Report::Kind::kComplete,
                                                     .session = held.id,
                                                     .fence = held.fence,
                                                     .sequence = held.messages.back().sequence});
                           if (!report.items.empty())
                             server.queues.Report(report, nullptr, Expected());
                         });
  }

  /// What was committed just now was routed by the file that is in force now.
  void OnCommit(Process& process) override {
    if (!process.queries.contains("webhooks.insert_events")) return;
    const std::string content =
        tables().Ask("select content from tenure.bot_files order by revision desc limit 1")[0][0];
    for (const auto& row : tables().Ask(
             "select e.event_id, e.entity_id, coalesce((select q.name || ' ' || s.key || case when "
             "s.generation = q.generation then '' else ' of an older generation' end from "
             "tenure.queue_messages m join tenure.queue_sessions s on s.session_id = m.session_id "
             "join tenure.queues q on q.queue_id = s.queue_id where m.event_id = e.event_id), "
             "(select t.name from tenure.webhook_references r join tenure.messages m on m.id = "
             "r.message_id join tenure.topics t on t.topic_id = m.topic_id where r.event_id = "
             "e.event_id), 'nowhere') from tenure.webhook_events e")) {
      if (!seen_.insert(row[0]).second) continue;
      const bool entity = content.find("\"entity\"") != std::string::npos;
      const bool repository = content.find("\"repository\"") != std::string::npos;
      const std::string wanted = entity       ? "b github.com/r1/thread/" + row[1]
                                 : repository ? "b github.com/r1/repository"
                                              : "queue:c";
      if (row[2] != wanted)
        Violation(
            fmt::format("an event went to '{}' by a file that is not in force: '{}' is wanted",
                        row[2], wanted));
    }
  }

  std::int64_t Number(const std::string& sql) { return tables().Number(sql); }

  void Judge() override {
    for (const Delivery& delivery : deliveries_) {
      const std::int64_t events = Number(
          "select count(*) from tenure.webhook_events where delivery_id = '" + delivery.id + "'");
      if (events > 1) Violation(fmt::format("Q2: {} made {} events", delivery.id, events));
      if (events == 0 && delivery.answered > 0)
        Violation(fmt::format("{} was answered, and is nowhere", delivery.id));
    }
    if (Number("select count(*) from tenure.webhook_events e where 1 <> (select count(*) from "
               "tenure.queue_messages m where m.event_id = e.event_id) + (select count(*) from "
               "tenure.webhook_references r join tenure.messages m on m.id = r.message_id where "
               "r.event_id = e.event_id)") > 0)
      Violation("Q2: an event has not one message");
    if (Number("select count(*) from tenure.webhook_events e where e.messages <> 1 or not exists "
               "(select from tenure.webhook_payloads p where p.event_id = e.event_id)") > 0)
      Violation("an event is not whole");
    CheckOrder();
  }

  /// What was answered before another was sent comes before it, where both are in one session.
  void CheckOrder() {
    struct Place {
      std::string session;
      std::int64_t sequence = 0;
    };
    std::map<std::string, Place> places;
    for (const auto& row : tables().Ask(
             "select e.delivery_id, m.session_id, m.sequence from tenure.webhook_events e join "
             "tenure.queue_messages m on m.event_id = e.event_id"))
      places[row[0]] = {row[1], std::stoll(row[2])};
    for (const Delivery& one : deliveries_)
      for (const Delivery& other : deliveries_) {
        if (one.answered == 0 || one.answered >= other.sent) continue;
        const auto a = places.find(one.id), b = places.find(other.id);
        if (a == places.end() || b == places.end() || a->second.session != b->second.session)
          continue;
        if (a->second.sequence >= b->second.sequence)
          Violation(fmt::format("Q1: {} was answered before {} was sent, and comes behind it",
                                one.id, other.id));
      }
  }

  const HookBug planted_;
  WriteKeysHandler write_keys_;

  // Of one run.
  std::vector<Delivery> deliveries_;
  std::set<std::string> seen_;
  int moment_ = 0;
};

constexpr support::Seeds kHookSeeds{100, 3'000};

TEST(SteppedWebhooks, Q1_Q2_HoldInEveryInterleavingEachEventHasOneFileAndNothingDeadlocks) {
  HookRun run(HookBug::kNothing);
  support::ExpectEverySeedHolds(run, kHookSeeds);
}

TEST(SteppedWebhooks, EveryPlantedBugIsFound) {
  using enum HookBug;
  using Bug = std::pair<HookBug, const char*>;
  for (const auto& [planted, by_name] : {Bug{kRevisionBeforeLock, "by a file that is not in force"},
                                         Bug{kDedupApart, "made 2 events"}})
    support::ExpectFound(HookRun(planted), kSeedsForABug, by_name);
}

}  // namespace
}  // namespace tenure::stepped
