// Ordered queues under the stepped scheduler: Q1, Q3 and Q4 over whole histories, beside users' own transactions that stay
// open; no deadlock ever, the counters equal a recount after every commit, and planted bugs that must be found.

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {
namespace {

using queues::HeldSession;
using queues::Report;
using queues::ReportOutcome;
using queues::ReportReply;

constexpr std::int64_t kQueueLeaseMs = 1'000;  // the shortest; the clock leaps, so that holds lapse
constexpr std::int64_t kCap = 2;
constexpr auto kTakenBack = base::FaultKind::kTimeout;

/// What is wrong on purpose.
enum class QueueBug {
  kNothing,
  kSendWithoutLock,      ///< `next` is read of a session that is not locked
  kAcceptWithoutLock,    ///< an accept hands out what it saw, and did not lock
  kCompleteWithoutLock,  ///< reports decide on what they saw
  kNoGate,               ///< holds are counted beside other accepts
  kMarkNotRead,          ///< what users' transactions completed is not looked at
  kStagedAtTheCall,      ///< a user's message gets its number at the call
};

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

/// A user's transaction: sends, or completes beside an effect; takes its time, and commits or rolls
/// back.
struct UsersTurn {
  std::string tenant{};
  std::string key{};
  std::int64_t number = 0;
  base::Uuid session{};  ///< of a completion
  std::int64_t fence = 0;
  std::int64_t sequence = 0;
  bool rolls_back = false;
  bool numbers_now = false;

  std::size_t bytes() const { return db::BytesOf(tenant, key); }
};
struct UsersTurnReply {};
class UsersTurnHandler final : public db::TypedHandler<UsersTurn, UsersTurnReply> {
 public:
  std::string_view name() const override { return "stepped.queue_user"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    for (auto* item : items) {
      const UsersTurn& turn = item->request;
      const std::string_view tenant = turn.tenant;
      if (turn.fence > 0)
        tx.Run(kUsersComplete, std::string_view(turn.session.ToString()), turn.fence, turn.sequence,
               tenant);
      else
        tx.Run(kUsersSend, std::string_view(turn.key), turn.number, tenant);
      if (turn.numbers_now) tx.Run(kNumberNow);
      tx.TakeClock(tx.QueueClock());  // further steps at which it may be paused
      tx.TakeClock(tx.QueueClock());
      if (turn.rolls_back) throw base::Fault(kTakenBack, "rolled back");
      item->reply = UsersTurnReply();
    }
  }
};

struct QueueServer final : Server {
  explicit QueueServer(Process& its)
      : process(its),
        messages(its.store(), its.wake(), its.name(), its.clock(), its.metrics()),
        queues(its.store(), its.wake(), messages, its.clock()) {}

  Process& process;
  messages::Messages messages;
  queues::Queues queues;
};

struct SeenSession {
  std::int64_t next = 0;
  std::int64_t head = 0;
  std::int64_t fence = 0;
  queues::State state = queues::State::kIdle;
  std::vector<std::int64_t> numbers{};  ///< of its messages, in their order
};
/// The tables after a commit.
struct QueuePicture {
  std::map<std::string, SeenSession> sessions{};  // by id
  std::set<std::int64_t> staged{};
  bool counters_are_right = true;
};
using QueuePicturePtr = std::shared_ptr<const QueuePicture>;

class QueueStepRun final : public Frame {
 public:
  explicit QueueStepRun(QueueBug planted)
      : Frame({.queries = QueriesOf({queues::sql::All(), messages::sql::All()},
                                    {&kUsersSend, &kUsersComplete, &kNumberNow}),
               .batches = 5,
               .odds = {.crash_percent = 1, .pause_percent = 4},
               .ahead_of_postgres = true}),
        planted_(planted) {
    namespace sql = queues::sql;
    if (planted == QueueBug::kSendWithoutLock)
      Plant(sql::kLockOpenSessions, "do update set activity_ms = 0 where false", "do nothing");
    if (planted == QueueBug::kAcceptWithoutLock)
      Plant(sql::kSeizeReady, "for update skip locked", "");
    if (planted == QueueBug::kCompleteWithoutLock)
      Plant(sql::kLockSessions, "for no key update of s", "");
    if (planted == QueueBug::kNoGate) Plant(sql::kLockGates, "for update of g", "");
    if (planted == QueueBug::kMarkNotRead) {
      Plant(sql::kLoadSessions, "on k.session_id = any (array[s.session_id])", "on false");
      Plant(sql::kLoadMarks, "tenure.queue_marks",
            "(select * from tenure.queue_marks where false)");
    }
  }
  std::int64_t handed() const { return handed_; }

 private:
  std::unique_ptr<Server> Boot(Process& process) override {
    return std::make_unique<QueueServer>(process);
  }
  queues::Queues& queues(Process& process) { return ServerOf<QueueServer>(process).queues; }
  bool IsStranger(const Process& process) const override {
    return process.queries.contains(kUsersSend.name) ||
           process.queries.contains(kUsersComplete.name);
  }
  /// By a user, because the fence is stale, or because a key is waited for.
  bool IsExpected(const base::Fault& fault) const override {
    const std::string_view what = fault.what();
    return fault.kind() == base::FaultKind::kContended || fault.kind() == kTakenBack ||
           what.find("counts") != std::string_view::npos ||
           what.find("completed before") != std::string_view::npos ||
           what.find("was not handed out") != std::string_view::npos;
  }

  void Begin() override {
    picture_ = std::make_shared<QueuePicture>();
    asked_.clear();
    visible_.clear();
    answered_.clear();
    given_.clear();
    held_.clear();
    for (auto& each : committing_) each.clear();
    done_.clear();
    effects_.clear();
    commit_ = number_ = 0;
    queues::DeclareRequest declare{tenant(), "q", {}};
    declare.wish.settings.max_concurrent_sessions = kCap;
    declare.wish.settings.max_delivery_count = 3;
    declare.wish.settings.backoff_ms = 0;
    declare.wish.settings.max_messages = 4;
    declare.wish.settings.on_dead_letter = queues::DeadLetterPolicy::kSkip;
    Ask<queues::DeclareReply>([&](Process& process, auto done) {
      queues(process).Declare(declare, nullptr, std::move(done));
    });
    Frame::Alone([&](Process& process) {
      for (int i = 0; i < 4; ++i) Send(process);
    });
  }

  // What a process does.

  void Submit(Process& process) override {
    for (auto count = 1 + Random(2); count > 0; --count) Act(process);
  }
  void Act(Process& process) {
    const auto roll = Random(100);
    if (roll < 20) return Send(process);
    if (roll < 32) return UserSends(process);
    if (roll < 60) return Accept(process);
    if (roll < 80) return Tell(process, Report::Kind::kComplete);
    if (roll < 86) return UserCompletes(process);
    if (roll < 90) return Tell(process, Report::Kind::kFail);
    if (roll < 94) return Tell(process, Report::Kind::kRelease);
    if (roll < 96) return Tell(process, Report::Kind::kBreak);
    if (roll < 98) return queues(process).Drain({tenant(), "q"}, nullptr, Expected());
    clock().Advance(kQueueLeaseMs);
  }

  std::string AnyKey() { return std::string(1, static_cast<char>('a' + Random(3))); }
  std::int64_t NextNumber() {
    asked_[++number_] = commit_;
    return number_;
  }

  void Send(Process& process) {
    queues::SendRequest request{tenant(), "q", {}};
    std::vector<std::int64_t> numbers;
    for (auto count = 1 + Random(2); count > 0; --count) {
      queues::NewMessage& message = request.messages.emplace_back();
      message.key = AnyKey();
      numbers.push_back(NextNumber());
      message.payload = std::to_string(numbers.back());
    }
    queues(process).Send(request, nullptr, [this, numbers](const auto& result) {
      if (Expect(result)) answered_.insert(numbers.begin(), numbers.end());
    });
  }

  void UserSends(Process& process) {
    const UsersTurn turn{.tenant = tenant(),
                         .key = AnyKey(),
                         .number = NextNumber(),
                         .rolls_back = Chance(25),
                         .numbers_now = planted_ == QueueBug::kStagedAtTheCall};
    committing_[process.index()].push_back(turn.number);
    process.store().Submit(user_, nullptr, turn,
                           [this, turn](const db::Result<UsersTurnReply>& result) {
                             if (Expect(result)) answered_.insert(turn.number);
                           });
  }

  /// One that was handed out, lately.
  std::optional<HeldSession> AnyHeld() {
    if (held_.empty()) return std::nullopt;
    return AnyLate(held_);
  }
  std::int64_t SequenceOf(const HeldSession& held) {
    return held.messages.empty() ? 1 : AnyLate(held.messages).sequence;
  }

  void UserCompletes(Process& process) {
    const auto held = AnyHeld();
    if (!held) return;
    const UsersTurn turn{.tenant = tenant(),
                         .session = held->id,
                         .fence = held->fence,
                         .sequence = SequenceOf(*held),
                         .rolls_back = Chance(25)};
    process.store().Submit(
        user_, nullptr, turn, [this, turn](const db::Result<UsersTurnReply>& result) {
          if (!Expect(result)) return;
          const SeenSession& seen = picture_->sessions.at(turn.session.ToString());
          if (seen.fence != turn.fence)
            Violation("Q1: a user completed under a fence that is over");
          std::int64_t& effect = effects_[turn.session.ToString()];
          if (turn.sequence <= effect) Violation("Q1: a user's effect happened twice");
          effect = std::max(effect, turn.sequence);
        });
  }

  void Accept(Process& process) {
    queues::AcceptRequest request;
    request.tenant = tenant();
    request.queue = "q";
    request.consumer = process.name();
    request.max_sessions = 1 + static_cast<std::int64_t>(Random(2));
    request.max_messages = 3;
    request.lease_ms = kQueueLeaseMs;
    queues(process).Accept(request, nullptr, [this](const auto& result) {
      if (!Expect(result)) return;
      for (const HeldSession& each : result.value().sessions) Handed(each);
    });
  }
  void Handed(const HeldSession& held) {
    const std::string id = held.id.ToString();
    const SeenSession& seen = picture_->sessions.at(id);
    std::int64_t& latest = given_[id];
    if (held.fence <= latest) Violation("Q1: a fence was given twice");
    latest = std::max(latest, held.fence);
    Slice(id, seen, held.messages);
    held_.push_back(held);
    handed_ += std::ssize(held.messages);
  }
  /// From the head on, without a gap, and nothing that a user's transaction has completed.
  void Slice(const std::string& id, const SeenSession& seen,
             const std::vector<queues::Message>& messages) {
    std::int64_t expected = seen.head;
    for (const queues::Message& each : messages) {
      if (each.sequence != expected)
        Violation("Q1: a slice does not begin at the head, or has a gap");
      if (each.sequence <= effects_[id])
        Violation("Q1: what a user's transaction completed was handed out again");
      ++expected;
    }
  }

  void Tell(Process& process, Report::Kind kind) {
    const auto held = AnyHeld();
    if (!held) return Accept(process);
    Report report{.kind = kind, .session = held->id};
    if (kind != Report::Kind::kBreak) report.fence = held->fence;
    report.sequence = SequenceOf(*held);
    report.keep = Chance(70);
    report.max_messages = 2;
    report.error = "no";
    queues(process).Report({tenant(), "q", {report}}, nullptr,
                           [this, report](const db::Result<ReportReply>& result) {
                             if (Expect(result)) Told(report, result.value().outcomes.front());
                           });
  }
  void Told(const Report& report, const ReportOutcome& outcome) {
    const std::string id = report.session.ToString();
    const bool counts = outcome.kind == ReportOutcome::Kind::kDone;
    if (!counts || report.kind != Report::Kind::kComplete) return;
    const SeenSession& seen = picture_->sessions.at(id);
    if (seen.head <= report.sequence) Violation("Q4: what is done is not done");
    if (report.fence < given_[id]) Violation("Q1: a fence that is over counted");
    std::int64_t& done = done_[id];
    if (report.sequence <= std::max(done, effects_[id]))
      Violation("Q1: a message was completed twice");
    done = std::max(done, report.sequence);
    Slice(id, seen, outcome.messages);
    if (outcome.hold != queues::Hold::kHeld || outcome.messages.empty()) return;
    HeldSession next;
    next.id = report.session;
    next.fence = report.fence;
    next.messages = outcome.messages;
    held_.push_back(std::move(next));
  }

  /// What a user sends is sent by its COMMIT.
  void OnStep(Process& process, std::string_view step) override {
    if (step != "commit" || !process.queries.contains(kUsersSend.name)) return;
    for (const std::int64_t number : committing_[process.index()]) asked_[number] = commit_;
    committing_[process.index()].clear();
  }

  // The tables after every commit.

  void OnCommit(Process&) override {
    ++commit_;
    auto picture = std::make_shared<QueuePicture>(Look());
    for (const auto& [id, session] : picture->sessions) Compare(id, session);
    for (const std::int64_t number : picture->staged) visible_.try_emplace(number, commit_);
    if (!picture->counters_are_right) Violation("Q3: the counters are not what a recount says");
    const auto held = std::ranges::count_if(picture->sessions, [](const auto& each) {
      return each.second.state == queues::State::kHeld;
    });
    if (held > kCap) Violation("Q3: more holds than the cap allows");
    picture_ = std::move(picture);
  }

  QueuePicture Look() {
    QueuePicture picture;
    const std::string of_queue = fmt::format(
        "from tenure.queues q join tenure.queue_sessions s on s.queue_id = q.queue_id where "
        "q.tenant = '{}'",
        tenant());
    for (const auto& row : tables().Ask(
             "select s.session_id, s.next, s.head, s.fence, s.state, (select coalesce(string_agg("
             "m.sequence || ':' || convert_from(m.payload, 'UTF8'), ' ' order by m.sequence), '') "
             "from tenure.queue_messages m where m.session_id = s.session_id) " +
             of_queue)) {
      SeenSession& seen = picture.sessions[row[0]];
      seen.next = std::stoll(row[1]);
      seen.head = std::stoll(row[2]);
      seen.fence = std::stoll(row[3]);
      seen.state = static_cast<queues::State>(std::stoll(row[4]));
      std::istringstream texts(row[5]);
      for (std::string text; texts >> text;) {
        const std::size_t colon = text.find(':');
        seen.numbers.push_back(std::stoll(text.substr(colon + 1)));
        if (std::stoll(text.substr(0, colon)) != std::ssize(seen.numbers))
          Violation("Q1: the sequences of a session have a gap");
      }
    }
    for (const auto& row :
         tables().Ask(fmt::format("select convert_from(payload, 'UTF8') from tenure.queue_staged "
                                  "where number > 0 and tenant = '{}'",
                                  tenant())))
      picture.staged.insert(std::stoll(row[0]));
    const std::string recount =
        "(select coalesce(sum(s.next - s.head), 0)::text || ' ' || count(*) filter (where s.state "
        "= 1) || ' ' || "
        "count(*) filter (where s.state = 2) || ' ' || count(*) filter (where s.state = 3) " +
        of_queue + ")";
    picture.counters_are_right =
        tables().Number(fmt::format(
            "select ((select coalesce(sum(c.messages), 0)::text || ' ' || coalesce(sum(c.ready), "
            "0) || ' ' || "
            "coalesce(sum(c.held), 0) || ' ' || coalesce(sum(c.parked), 0) from "
            "tenure.queue_counters c "
            "join tenure.queues q on q.queue_id = c.queue_id where q.tenant = '{}') = {})::int",
            tenant(), recount)) == 1;
    return picture;
  }

  void Compare(const std::string& id, const SeenSession& now) {
    static const SeenSession kNew{.next = 1, .head = 1};
    const auto found = picture_->sessions.find(id);
    const SeenSession& before = found == picture_->sessions.end() ? kNew : found->second;
    if (now.fence < before.fence) Violation("Q1: a fence fell");
    if (now.head < before.head) Violation("Q1: a head went back");
    if (std::ssize(now.numbers) != now.next - 1)
      Violation("Q1: `next` is not one more than the last message");
    if (!std::equal(
            before.numbers.begin(), before.numbers.end(), now.numbers.begin(),
            now.numbers.begin() + std::min(std::ssize(now.numbers), std::ssize(before.numbers))))
      Violation("Q1: a message took the place of another");
    for (const std::int64_t number : now.numbers) visible_.try_emplace(number, commit_);
    // Of a pair the first was not sent when the commit of the second had been answered.
    for (std::size_t i = before.numbers.size(); i < now.numbers.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (visible_.at(now.numbers[i]) <= asked_.at(now.numbers[j]))
          Violation(fmt::format("Q1: {} was sent after the commit of {}, and stands before it",
                                now.numbers[j], now.numbers[i]));
  }

  /// Whatever crashed: one healthy consumer gets and finishes all that is left.
  void Judge() override {
    for (int round = 0; round < 40 && !has_violations(); ++round) {
      clock().Advance(60'000);
      Frame::Alone([&](Process& process) {
        queues(process).Drain({tenant(), "q"}, nullptr, Expected());
      });
      std::size_t before = held_.size();
      Frame::Alone([&](Process& process) { Accept(process); });
      for (; before < held_.size(); ++before) {
        const HeldSession held = held_[before];
        if (held.messages.empty()) continue;
        Report report{.kind = Report::Kind::kComplete, .session = held.id, .fence = held.fence};
        report.sequence = held.messages.back().sequence;
        Frame::Alone([&](Process& process) {
          queues(process).Report({tenant(), "q", {report}}, nullptr,
                                 [this, report](const db::Result<ReportReply>& result) {
                                   if (Expect(result))
                                     Told(report, result.value().outcomes.front());
                                 });
        });
      }
      if (IsDrained()) return Missing();
    }
    if (!has_violations()) Violation("Q4: something is left that nobody can have");
  }
  bool IsDrained() {
    return picture_->staged.empty() &&
           std::ranges::all_of(picture_->sessions, [](const auto& each) {
             return each.second.head == each.second.next;
           });
  }
  void Missing() {
    std::multiset<std::int64_t> stored;
    for (const auto& [id, session] : picture_->sessions)
      stored.insert(session.numbers.begin(), session.numbers.end());
    for (const std::int64_t number : answered_)
      if (stored.count(number) != 1)
        Violation(fmt::format("Q4: message {} is there {} times", number, stored.count(number)));
  }

  UsersTurnHandler user_;
  const QueueBug planted_;
  std::int64_t handed_ = 0;

  // Of one run.
  QueuePicturePtr picture_;
  std::int64_t commit_ = 0;
  std::int64_t number_ = 0;
  std::map<std::int64_t, std::int64_t> asked_;    // how many commits there had been, by number
  std::map<std::int64_t, std::int64_t> visible_;  // by which commit, by number
  std::array<std::vector<std::int64_t>, kProcesses> committing_;  // of users, by process
  std::set<std::int64_t> answered_;
  std::map<std::string, std::int64_t> given_;    // the latest fence, by session
  std::map<std::string, std::int64_t> done_;     // the latest message that was completed
  std::map<std::string, std::int64_t> effects_;  // the same in users' transactions
  std::vector<HeldSession> held_;
};

constexpr support::Seeds kQueueSeeds{15, 3'000};

TEST(SteppedQueues, Q1_Q3_Q4_HoldInEveryInterleavingAndNothingDeadlocks) {
  QueueStepRun run(QueueBug::kNothing);
  const std::int64_t seeds = support::ExpectEverySeedHolds(run, kQueueSeeds);
  std::cout << run.handed() << " messages were handed out\n";
  EXPECT_GE(run.handed(), seeds * 5);
}

TEST(SteppedQueues, EveryPlantedBugIsFound) {
  using enum QueueBug;
  for (const QueueBug planted : {kSendWithoutLock, kAcceptWithoutLock, kCompleteWithoutLock,
                                 kNoGate, kMarkNotRead, kStagedAtTheCall})
    support::ExpectFound(QueueStepRun(planted), kSeedsForABug,
                         planted == kNoGate ? "Q3: more holds" : "VIOLATION: ");
}

}  // namespace
}  // namespace tenure::stepped
