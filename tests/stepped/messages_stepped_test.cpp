// Messages and timers under the stepped scheduler: M1, M2 and M3 over whole histories, beside
// users' own transactions, and planted bugs that must be found.

#include <algorithm>
#include <iostream>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "sim/message_book.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {
namespace {

using messages::ClaimReply;
using messages::ClaimRequest;
using messages::Disposition;
using messages::HeartbeatRequest;
using sim::MessageBook;
using Claim = MessageBook::Claim;

constexpr std::int64_t kMessageLeaseMs = 150;  // short, so that claims lapse in the middle of a run
constexpr std::int64_t kMaxAttempts = 2;
constexpr std::int64_t kMaxCrashes = 2;
constexpr auto kRolledBack = base::FaultKind::kTimeout;

/// By the user, also with another user of this batch; or because of TN001: stale, and so is the
/// effect.
bool IsRolledBack(const base::Fault& fault) {
  return fault.kind() == kRolledBack ||
         std::string_view(fault.what()).find("is stale") != std::string_view::npos;
}

/// What is wrong on purpose.
enum class MessageBug {
  kNothing,
  kFindWithoutLock,    ///< a claim hands out what it saw, and did not lock
  kReportWithoutLock,  ///< reports and the reaper decide on what they saw, and did not lock
  kUserOpensTopic,     ///< a user's transaction makes the row of its topic itself
  kWakeUpSwallowed,  ///< a waiting claim passes over what a loser of a race has locked, and sleeps
  kPromoterSpins,    ///< the promoter asks at once again for what it could not have
};

const db::Query kUsersEnqueue{
    "stepped.enqueue",
    "select 1::bigint from tenure.enqueue($1::text, to_jsonb($2::bigint), "
    "tenant => $3::text)",
    ""};
const db::Query kUsersAcknowledge{
    "stepped.acknowledge",
    "select 1::bigint from tenure.acknowledge($1::text::uuid, $2::bigint, "
    "null, $3::text)",
    ""};

const db::Query kUserOpensTopic{
    "stepped.enqueue",
    "with opened as (insert into tenure.topics as t (tenant, name, lines) "
    "values ($3::text, $1::text, 0) on conflict (tenant, name) do update set lines = t.lines "
    "returning 1) "
    "select 1::bigint from opened, lateral tenure.enqueue($1::text, to_jsonb($2::bigint), "
    "tenant => $3::text)",
    ""};

/// A transaction of a user: a message goes in, or one is acknowledged beside its effect; then it
/// takes its time, and commits or rolls back.
struct UsersRequest {
  std::string tenant{};
  std::string topic{};         ///< enqueue
  std::int64_t number = 0;     ///< enqueue
  std::optional<Claim> ack{};  ///< acknowledge
  bool rolls_back = false;

  std::size_t bytes() const { return db::BytesOf(tenant, topic); }
};
struct UsersReply {};
class UsersHandler final : public db::TypedHandler<UsersRequest, UsersReply> {
 public:
  std::string_view name() const override { return "stepped.user"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    for (auto* item : items) {
      const UsersRequest& request = item->request;
      const std::string_view tenant = request.tenant;
      if (request.ack)
        tx.Run(kUsersAcknowledge, std::string_view(request.ack->first.ToString()),
               request.ack->second, tenant);
      else
        tx.Run(kUsersEnqueue, std::string_view(request.topic), request.number, tenant);
      tx.TakeClock(tx.QueueClock());  // further steps at which it may be paused
      tx.TakeClock(tx.QueueClock());
      if (request.rolls_back) throw base::Fault(kRolledBack, "rolled back");
      item->reply = UsersReply();
    }
  }
};

struct MessageServer final : Server {
  explicit MessageServer(Process& its)
      : process(its), messages(its.store(), its.wake(), its.name(), its.clock(), its.metrics()) {}

  Process& process;
  messages::Messages messages;
  /// With a heartbeat; 0: not on record.
  std::int64_t worker = 0;
  std::vector<std::pair<base::Uuid, std::size_t>> batches{};  ///< its claims, and how many of each
};

/// What there was to be seen during a process's transaction.
struct Sight {
  std::vector<std::shared_ptr<const sim::Picture>> seen{};
  std::set<std::string> paused_when_it_looked{};
};

class MessageRun final : public Frame {
 public:
  explicit MessageRun(MessageBug planted)
      : Frame({.queries = QueriesOf({messages::sql::All()}, {&kUsersEnqueue, &kUsersAcknowledge}),
               .odds = {.crash_percent = 2},
               .ahead_of_postgres = true}) {
    if (planted == MessageBug::kFindWithoutLock)
      Plant(messages::sql::kFindReady, "for update skip locked", "");
    if (planted == MessageBug::kReportWithoutLock)
      Plant(messages::sql::kLockMessages, "for update of m skip locked", "");
    if (planted == MessageBug::kUserOpensTopic) Plant(kUserOpensTopic);
    if (planted == MessageBug::kWakeUpSwallowed)
      Plant(messages::sql::kFindPassedOver, "limit 1", "limit 0");
    if (planted == MessageBug::kPromoterSpins)
      Plant(messages::sql::kNextDue, "due_ms > $1", "$1::bigint is not null");
  }
  std::int64_t claims() const { return claims_; }

 private:
  /// One that there is, or one that nobody has heard of at first.
  std::string AnyTopic() { return Chance(20) ? "new" : Chance(50) ? "a" : "b"; }

  std::unique_ptr<Server> Boot(Process& process) override {
    return std::make_unique<MessageServer>(process);
  }

  void Begin() override {
    told_.clear();
    sent_.clear();
    named_.clear();
    top_.clear();
    placed_.clear();
    late_.clear();
    number_ = 0;
    book_ = std::make_unique<MessageBook>(MessageBook::Limits{kMaxAttempts, kMaxCrashes, kNeverMs},
                                          [this](const std::string& what) { Violation(what); });
    Prepare();
  }
  void Judge() override {
    if (!has_violations()) Drain();
  }
  bool IsStranger(const Process& process) const override {
    return process.queries.contains(kUsersEnqueue.name) ||
           process.queries.contains(kUsersAcknowledge.name);
  }
  /// "Ask again" while a transaction is about to acknowledge the message.
  bool IsExpected(const base::Fault& fault) const override {
    return fault.kind() == base::FaultKind::kContended;
  }

  void OnStep(Process& process, std::string_view step) override {
    Sight& sight = sights_[process.index()];
    if (step == "begin") sight.seen.assign(1, book_->latest());
    if (step == "messages.find_ready") sight.paused_when_it_looked = book_->picture().paused;
    if (step == kUsersEnqueue.name) process.queries.emplace("messages.insert_messages");
    if (step == kUsersAcknowledge.name) process.queries.emplace("messages.finish_messages");
  }
  void OnCommit(Process& process) override {
    sim::Picture picture = sim::ReadPicture(tables(), tenant(), clock().WallMs());
    // A claim that looked before the pause was committed may hand out what it found; no other.
    std::erase_if(picture.paused, [&](const std::string& topic) {
      return process.queries.contains("messages.find_ready") &&
             !sights_[process.index()].paused_when_it_looked.contains(topic);
    });
    book_->Committed(process.queries, std::move(picture), clock().BootMs());
    for (Sight& sight : sights_) sight.seen.push_back(book_->latest());
    NoteLate();
  }
  /// What becomes ready in front of others was committed late: a look may begin behind it.
  void NoteLate() {
    for (const auto& [id, message] : book_->picture().messages) {
      if (message.pos == 0 || !placed_.insert({id, message.pos}).second) continue;
      if (message.pos < top_[message.topic]) late_.insert(id);
    }
    for (const auto& [id, message] : book_->picture().messages)
      top_[message.topic] = std::max(top_[message.topic], message.pos);
  }
  const auto& SeenBy(const MessageServer& server) const {
    return sights_[server.process.index()].seen;
  }

  // What a process does.

  void Submit(Process& process) override {
    for (auto count = 1 + Random(2); count > 0; --count) Act(ServerOf<MessageServer>(process));
  }

  void Act(MessageServer& server) {
    const auto roll = Random(100);
    if (roll < 12) return SubmitEnqueue(server);
    if (roll < 20) return SubmitUser(server, false);
    if (roll < 38) return SubmitClaim(server);
    if (roll < 62) return SubmitReport(server);
    if (roll < 68) return SubmitUser(server, true);
    if (roll < 76) return server.messages.ReapSome({true}, Expected());
    if (roll < 81) return SubmitPromote(server);
    if (roll < 83) return server.messages.SortSome({}, Expected());
    if (roll < 87) return SubmitCancel(server);
    if (roll < 93) return SubmitHeartbeat(server);
    if (roll < 96) return SubmitPause(server);
    SubmitDeadChange(server);
  }

  void SubmitEnqueue(MessageServer& server) {
    messages::NewMessage message;
    message.topic = AnyTopic();
    message.payload = std::to_string(++number_);
    if (Chance(40)) message.delay_ms = static_cast<std::int64_t>(Random(200));
    if (message.topic != "new" && Chance(25)) message.dedup_key = message.topic;
    book_->AskEnqueue(number_, message.dedup_key);
    server.messages.Enqueue(
        {.tenant = tenant(), .messages = {message}}, nullptr,
        [this, number = number_](const db::Result<messages::EnqueueReply>& result) {
          if (!Expect(result)) return;
          book_->Enqueued(number, result.value().messages.front());
          sent_.push_back(result.value().messages.front().id);
        });
  }

  void SubmitUser(MessageServer& server, bool acknowledges) {
    if (acknowledges && told_.empty()) return;
    UsersRequest request{tenant(), AnyTopic(), 0, {}, Chance(40)};
    if (acknowledges) {
      request.ack = AnyLate(told_);
      book_->AskReport(Disposition::kDone, *request.ack);
    } else {
      request.number = ++number_;
      book_->AskEnqueue(number_, "");
    }
    server.process.store().Submit(
        acknowledges ? user_acknowledges_ : user_enqueues_, nullptr, request,
        [this, request](const db::Result<UsersReply>& result) {
          if (!result.ok() && result.fault().outcome_unknown()) return;
          if (!request.ack && !result.ok()) book_->NotEnqueued(request.number);
          if (!request.ack || (!result.ok() && IsRolledBack(result.fault()))) return;
          if (Expect(result))
            book_->Reported({}, Disposition::kDone, *request.ack, messages::SettleOutcome::kDone,
                            0);
        });
  }

  void SubmitClaim(MessageServer& server) {
    ClaimRequest request;
    request.tenant = tenant();
    request.topics =
        Chance(50) ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{AnyTopic()};
    request.max = 1 + static_cast<std::int64_t>(Random(3));
    request.owner = "somebody";
    request.lease_ms = kMessageLeaseMs;
    request.waits = Chance(50);
    if (server.worker != 0 && Chance(50)) {
      request.worker = server.worker;
      request.started = 0;
    } else if (Chance(30)) {
      request.claim_id = NewId();
      named_.push_back(request);
    } else if (!named_.empty() && Chance(30)) {
      request = named_[Random(named_.size())];  // the answer may have been lost
    }
    server.messages.Claim(request, nullptr,
                          [this, &server, request](const db::Result<ClaimReply>& result) {
                            if (Expect(result)) OnClaimed(server, request, result.value());
                          });
  }

  void OnClaimed(MessageServer& server, const ClaimRequest& request, const ClaimReply& reply) {
    book_->Claimed(SeenBy(server), request, reply);
    if (request.waits && reply.messages.empty() && !reply.has_locked) CheckNothing(server, request);
    for (const auto& each : reply.messages) told_.emplace_back(each.id, each.fence);
    if (request.worker && !reply.messages.empty())
      server.batches.emplace_back(reply.claim, reply.messages.size());
  }

  /// Who waits and got nothing is woken by what becomes ready, and by nothing else: so nothing was, from its
  /// beginning to its end.
  void CheckNothing(const MessageServer& server, const ClaimRequest& request) {
    const auto& seen = SeenBy(server);
    const auto was_ready = [&](const auto& picture, const base::Uuid& id,
                               const std::string& topic) {
      const auto found = picture->messages.find(id);
      return found != picture->messages.end() && found->second.place == sim::Place::kReady &&
             !picture->paused.contains(topic);
    };
    for (const auto& [id, message] : seen.front()->messages)
      if (!late_.contains(id) &&
          std::ranges::find(request.topics, message.topic) != request.topics.end() &&
          std::ranges::all_of(
              seen, [&](const auto& picture) { return was_ready(picture, id, message.topic); }))
        Violation(book_->NameOf(id) +
                  " is ready, and who waits for it got nothing and does not look again");
  }

  /// What is due and cannot be had is looked for again, but not at once.
  void SubmitPromote(MessageServer& server) {
    server.messages.PromoteSome([this](const db::Result<messages::PromoteReply>& result) {
      if (!Expect(result)) return;
      const messages::PromoteReply& reply = result.value();
      if (reply.rows == 0 && reply.next_due_ms && *reply.next_due_ms <= reply.now_ms)
        Violation("the promoter got nothing, and asks for it again at once");
    });
  }

  void SubmitReport(MessageServer& server) {
    if (told_.empty()) return SubmitClaim(server);
    static constexpr Disposition kDispositions[] = {Disposition::kDone,      Disposition::kDone,
                                                    Disposition::kRetry,     Disposition::kDead,
                                                    Disposition::kUntouched, Disposition::kExtend};
    const Disposition disposition = kDispositions[Random(std::size(kDispositions))];
    std::vector<Claim> claims{AnyLate(told_)};
    if (Chance(50)) claims.push_back(AnyLate(told_));
    SendReports(server, disposition, claims);
  }

  void SendReports(MessageServer& server, Disposition disposition,
                   const std::vector<Claim>& claims) {
    messages::SettleRequest request{tenant(), disposition, {}, kMessageLeaseMs};
    for (const Claim& claim : claims) {
      book_->AskReport(disposition, claim);
      request.settlements.push_back({claim.first, claim.second, "", 0, ""});
    }
    server.messages.Settle(
        std::move(request), nullptr,
        [this, &server, disposition, claims](const db::Result<messages::SettleResult>& result) {
          if (!Expect(result)) return;
          for (std::size_t i = 0; i < claims.size(); ++i)
            book_->Reported(SeenBy(server), disposition, claims[i],
                            result.value().reply.outcomes[i], -kNeverMs);
        });
  }

  void SubmitCancel(MessageServer& server) {
    if (sent_.empty()) return;
    const base::Uuid id = sent_[Random(sent_.size())];
    book_->AskCancel(id);
    server.messages.Cancel({tenant(), id}, nullptr,
                           [this, &server, id](const db::Result<messages::CancelReply>& result) {
                             if (Expect(result))
                               book_->Cancelled(SeenBy(server), id, result.value().outcome);
                           });
  }

  /// The process is also a worker: it joins, says that it lives, begins, or is quiet for longer
  /// than it is believed to live.
  void SubmitHeartbeat(MessageServer& server) {
    if (Chance(20)) clock().Advance(messages::kWorkerTtlMs);
    if (server.worker != 0 && !server.batches.empty() && Chance(50)) {
      const auto& [claim, size] = server.batches.back();
      return server.messages.Started({tenant(), claim, 1 + static_cast<std::int64_t>(Random(size))},
                                     Expected());
    }
    const bool joins = server.worker == 0;
    const std::int64_t worker = joins ? messages::NewWorker() : server.worker;
    const auto kind = joins ? HeartbeatRequest::Kind::kJoin : HeartbeatRequest::Kind::kBeat;
    server.messages.Heartbeat(
        {kind, worker, tenant(), "worker"},
        [this, &server, worker](const db::Result<messages::HeartbeatReply>& result) {
          if (!Expect(result)) return;
          book_->Beaten(SeenBy(server), worker, result.value().alive);
          server.worker = result.value().alive ? worker : 0;
          if (!result.value().alive) server.batches.clear();
        });
  }

  void SubmitPause(MessageServer& server) { ChangeTopic(server, AnyTopic(), Chance(50)); }

  void ChangeTopic(MessageServer& server, const std::string& topic, bool paused) {
    messages::TopicChange change;
    change.tenant = tenant();
    change.name = topic;
    change.paused = paused;
    change.max_attempts = kMaxAttempts;
    change.max_crashes = kMaxCrashes;
    change.dedup_ms = kNeverMs;
    change.retention_ms = topic == "a" ? kNeverMs : 0;
    server.messages.ChangeTopic(change, nullptr, Expected());
  }

  void SubmitDeadChange(MessageServer& server) {
    messages::DeadChangeRequest request;
    request.kind = Chance(70) ? messages::DeadChangeRequest::Kind::kRedrive
                              : messages::DeadChangeRequest::Kind::kDiscard;
    request.filter.tenant = tenant();
    server.messages.ChangeDead(request, nullptr, Expected());
  }

  // Before and after: the first process alone, without a scheduler.

  void Alone(const std::function<void(MessageServer&)>& submit) {
    Frame::Alone([&](Process& process) { submit(ServerOf<MessageServer>(process)); });
  }

  /// Topics with their limits, and something to fight for.
  void Prepare() {
    Alone([&](MessageServer& server) {
      for (const char* topic : {"a", "b"}) ChangeTopic(server, topic, false);
    });
    Alone([&](MessageServer& server) {
      for (int i = 0; i < 4; ++i) SubmitEnqueue(server);
    });
  }

  /// Whatever crashed: one healthy consumer gets and finishes all that is left. Late commits lie
  /// below its low-water marks by now.
  void Drain() {
    Alone([&](MessageServer& server) {
      for (const char* topic : {"a", "b", "new"}) ChangeTopic(server, topic, false);
    });
    for (int round = 0; round < 6 && !has_violations(); ++round) {
      clock().Advance(31'000);
      Alone([&](MessageServer& server) { server.messages.ReapSome({true}, [](const auto&) {}); });
      Alone([&](MessageServer& server) { server.messages.SortSome({}, Expected()); });
      Alone([&](MessageServer& server) { server.messages.PromoteSome([](const auto&) {}); });
      while (!has_violations() && TakeAndFinish()) {
      }
      if (IsDrained()) {
        claims_ += book_->claims();
        return;
      }
    }
    if (!has_violations()) Violation("M1: something is left that nobody can have");
  }

  bool TakeAndFinish() {
    std::vector<Claim> claims;
    Alone([&](MessageServer& server) {
      ClaimRequest request;
      request.tenant = tenant();
      request.topics = {"a", "b", "new"};
      request.owner = "somebody";
      server.messages.Claim(request, nullptr, [&, request](const auto& result) {
        if (!Expect(result)) return;
        OnClaimed(server, request, result.value());
        for (const auto& each : result.value().messages) claims.emplace_back(each.id, each.fence);
      });
    });
    if (claims.empty()) return false;
    Alone([&](MessageServer& server) { SendReports(server, Disposition::kDone, claims); });
    return true;
  }

  bool IsDrained() {
    const sim::Picture& picture = book_->picture();
    return picture.claims.empty() && picture.workers.empty() &&
           std::all_of(picture.messages.begin(), picture.messages.end(), [](const auto& entry) {
             return entry.second.place == sim::Place::kDead ||
                    entry.second.place == sim::Place::kFinished;
           });
  }

  UsersHandler user_enqueues_;
  UsersHandler user_acknowledges_;
  std::int64_t claims_ = 0;

  // Of one run.
  std::unique_ptr<MessageBook> book_;
  std::array<Sight, kProcesses> sights_;
  std::int64_t number_ = 0;  // of the last enqueue
  std::vector<Claim> told_;
  std::vector<base::Uuid> sent_;
  std::vector<ClaimRequest> named_;
  std::map<std::string, std::int64_t> top_;               // by topic: the highest place ever given
  std::set<std::pair<base::Uuid, std::int64_t>> placed_;  // what has been seen in its place
  std::set<base::Uuid> late_;                             // what came into a place before others
};

TEST(SteppedMessages, M1_M2_M3_HoldInEveryInterleavingAndNothingDeadlocks) {
  MessageRun run(MessageBug::kNothing);
  const std::int64_t seeds = support::ExpectEverySeedHolds(run, kSeeds);
  std::cout << run.claims() << " messages were handed out\n";
  EXPECT_GE(run.claims(), seeds * 5);
  if (seeds < static_cast<std::int64_t>(kSeeds.usual)) return;  // one alone
  for (const char* step :
       {"messages.insert_messages", "messages.find_ready", "messages.claim_messages",
        "messages.lock_messages", "messages.finish_known", "messages.put_back",
        "messages.promote_messages", "messages.extend_messages", "messages.lock_dead_workers",
        "messages.write_topics", "clock", "commit"})
    EXPECT_TRUE(run.beside_strangers().contains(step))
        << "no user's transaction was open before " << step;
}

TEST(SteppedMessages, EveryPlantedBugIsFound) {
  using enum MessageBug;
  using Bug = std::pair<MessageBug, const char*>;
  for (const auto& [planted, by_name] :
       {Bug{kFindWithoutLock, "VIOLATION: M"}, Bug{kReportWithoutLock, "VIOLATION: M"},
        Bug{kUserOpensTopic, "waits for a user's transaction"},
        Bug{kWakeUpSwallowed, "got nothing and does not look again"},
        Bug{kPromoterSpins, "asks for it again at once"}})
    support::ExpectFound(MessageRun(planted), kSeedsForABug, by_name);
}

}  // namespace
}  // namespace tenure::stepped
