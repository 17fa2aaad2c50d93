#include "stepped/queue_step_run.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

namespace tenure::stepped {
namespace {

using queues::HeldSession;
using queues::Report;
using queues::ReportOutcome;
using queues::ReportReply;

constexpr std::int64_t kQueueLeaseMs = 1'000;  // the shortest; the clock leaps, so that holds lapse
constexpr std::int64_t kMostHolds = 2;

struct QueueServer final : Server {
  explicit QueueServer(Process& its)
      : process(its),
        messages(its.store(), its.wake(), its.name(), its.clock(), its.metrics()),
        queues(its.store(), its.wake(), messages, its.clock()) {}

  Process& process;
  messages::Messages messages;
  queues::Queues queues;
};

}  // namespace

std::int64_t QueuePicture::Held() const {
  return std::ranges::count(sessions, queues::State::kHeld,
                            [](const auto& each) { return each.second.state; });
}

bool QueuePicture::HasOlder(std::int64_t than) const {
  return std::ranges::any_of(sessions, [than](const auto& each) {
    return each.second.generation < than && each.second.head < each.second.next;
  });
}

std::unique_ptr<Server> QueueStepRun::Boot(Process& process) {
  return std::make_unique<QueueServer>(process);
}

queues::Queues& QueueStepRun::queues(Process& process) {
  return ServerOf<QueueServer>(process).queues;
}

/// By a user, because the fence is stale, or because a key is waited for.
bool QueueStepRun::IsExpected(const base::Fault& fault) const {
  const std::string_view what = fault.what();
  return fault.kind() == base::FaultKind::kContended || fault.kind() == UsersTurn::kTakenBack ||
         what.find("counts") != std::string_view::npos ||
         what.find("completed before") != std::string_view::npos ||
         what.find("was not handed out") != std::string_view::npos;
}

queues::DeclareRequest QueueStepRun::Declared(std::int64_t cap) {
  queues::DeclareRequest declare{tenant(), "q", {}};
  declare.wish.key_rule = std::to_string(rule_);
  declare.wish.settings.max_concurrent_sessions = cap;
  declare.wish.settings.max_delivery_count = 3;
  declare.wish.settings.backoff_ms = 0;
  declare.wish.settings.max_messages = 4;
  declare.wish.settings.on_dead_letter = queues::DeadLetterPolicy::kSkip;
  return declare;
}

void QueueStepRun::Begin() {
  picture_ = std::make_shared<QueuePicture>();
  asked_.clear();
  visible_.clear();
  answered_.clear();
  given_.clear();
  held_.clear();
  for (auto& each : committing_) each.clear();
  done_.clear();
  effects_.clear();
  commit_ = number_ = rule_ = 0;
  // Ids of sessions are made of it, and give the order of locks.
  tables().Ask("select setval(pg_get_serial_sequence('tenure.queues', 'queue_id'), 1, false)");
  Ask<queues::DeclareReply>([&](Process& process, auto done) {
    queues(process).Declare(Declared(kMostHolds), nullptr, std::move(done));
  });
  Frame::Alone([&](Process& process) {
    for (int i = 0; i < 4; ++i) Send(process);
  });
}

// What a process does.

void QueueStepRun::Submit(Process& process) {
  for (auto count = 1 + Random(2); count > 0; --count) Act(process);
}

void QueueStepRun::Act(Process& process) {
  const auto roll = Random(100);
  if (roll < 20) return Send(process);
  if (roll < 31) return UserSends(process);
  if (roll < 57) return Accept(process);
  if (roll < 77) return Tell(process, Report::Kind::kComplete);
  if (roll < 84) return UserCompletes(process);
  if (roll < 88) return Tell(process, Report::Kind::kFail);
  if (roll < 91) return Tell(process, Report::Kind::kRelease);
  if (roll < 93) return Tell(process, Report::Kind::kBreak);
  if (roll < 95) return queues(process).Drain({tenant(), "q"}, nullptr, Expected());
  if (roll < 98) return Declare(process);
  clock().Advance(kQueueLeaseMs);
}

/// Another cap, or another rule for keys: a new generation.
void QueueStepRun::Declare(Process& process) {
  if (Chance(50)) ++rule_;
  queues(process).Declare(Declared(1 + static_cast<std::int64_t>(Random(kMostHolds))), nullptr,
                          Expected());
}

std::int64_t QueueStepRun::NextNumber() {
  asked_[++number_] = commit_;
  return number_;
}

void QueueStepRun::Send(Process& process) {
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

void QueueStepRun::UserSends(Process& process) {
  const UsersTurn turn{.tenant = tenant(),
                       .key = AnyKey(),
                       .number = NextNumber(),
                       .rolls_back = Chance(25),
                       .constrains_now = planted_ == QueueBug::kStagedAtTheCall};
  committing_[process.index()].push_back(turn.number);
  process.store().Submit(user_, nullptr, turn,
                         [this, turn](const db::Result<UsersTurnReply>& result) {
                           if (Expect(result)) answered_.insert(turn.number);
                         });
}

std::optional<HeldSession> QueueStepRun::AnyHeld() {
  if (held_.empty()) return std::nullopt;
  return AnyLate(held_);
}

std::int64_t QueueStepRun::SequenceOf(const HeldSession& held) {
  return held.messages.empty() ? 1 : AnyLate(held.messages).sequence;
}

void QueueStepRun::UserCompletes(Process& process) {
  const auto held = AnyHeld();
  if (!held) return;
  const UsersTurn turn{.tenant = tenant(),
                       .session = held->id,
                       .fence = held->fence,
                       .sequence = SequenceOf(*held),
                       .rolls_back = Chance(25),
                       .constrains_now = Chance(40)};
  process.store().Submit(user_, nullptr, turn,
                         [this, turn](const db::Result<UsersTurnReply>& result) {
                           if (!Expect(result)) return;
                           const SeenSession& seen = picture_->sessions.at(turn.session.ToString());
                           if (seen.fence != turn.fence)
                             Violation("Q1: a user completed under a fence that is over");
                           std::int64_t& effect = effects_[turn.session.ToString()];
                           if (turn.sequence <= effect)
                             Violation("Q1: a user's effect happened twice");
                           effect = std::max(effect, turn.sequence);
                         });
}

void QueueStepRun::Accept(Process& process) {
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

void QueueStepRun::Handed(const HeldSession& held) {
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
void QueueStepRun::Slice(const std::string& id, const SeenSession& seen,
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

void QueueStepRun::Tell(Process& process, Report::Kind kind) {
  const auto held = AnyHeld();
  if (!held) return Accept(process);
  Report report{.kind = kind, .session = held->id};
  if (kind != Report::Kind::kBreak) report.fence = held->fence;
  if (planted_ == QueueBug::kStagedByReport)
    process.store().Submit(enter_staged_, nullptr, EnterStaged{held->id}, Expected());
  report.sequence = SequenceOf(*held);
  report.keep = Chance(70);
  report.max_messages = 2;
  report.error = "no";
  Report said = report;
  if (planted_ == QueueBug::kCompleteByAnyFence && kind == Report::Kind::kComplete)
    said.fence = picture_->sessions.at(held->id.ToString()).fence;
  queues(process).Report({tenant(), "q", {said}}, nullptr,
                         [this, report](const db::Result<ReportReply>& result) {
                           if (Expect(result)) Told(report, result.value().outcomes.front());
                         });
}

void QueueStepRun::Told(const Report& report, const ReportOutcome& outcome) {
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

// The tables after every commit.

void QueueStepRun::OnCommit(Process&) {
  ++commit_;
  auto picture = std::make_shared<QueuePicture>(Look());
  for (const auto& [id, session] : picture->sessions) Compare(id, session, *picture);
  for (const std::int64_t number : picture->staged) visible_.try_emplace(number, commit_);
  if (!picture->counters_are_right) Violation("Q3: the counters are not what a recount says");
  // A lower cap drains.
  if (picture->Held() > picture->cap && picture->Held() > picture_->Held())
    Violation("Q3: more holds than the cap allows");
  picture_ = std::move(picture);
}

QueuePicture QueueStepRun::Look() {
  QueuePicture picture;
  for (const auto& row : tables().Ask(fmt::format(
           "select generation, max_sessions from tenure.queues where tenant = '{}'", tenant()))) {
    picture.generation = std::stoll(row[0]);
    picture.cap = std::stoll(row[1]);
  }
  const std::string of_queue = fmt::format(
      "from tenure.queues q join tenure.queue_sessions s on s.queue_id = q.queue_id where "
      "q.tenant = '{}'",
      tenant());
  for (const auto& row : tables().Ask(
           "select s.session_id, s.next, s.head, s.fence, s.state, s.generation, (select "
           "coalesce(string_agg("
           "m.sequence || ':' || convert_from(m.payload, 'UTF8'), ' ' order by m.sequence), '') "
           "from tenure.queue_messages m where m.session_id = s.session_id) " +
           of_queue)) {
    SeenSession& seen = picture.sessions[row[0]];
    seen.next = std::stoll(row[1]);
    seen.head = std::stoll(row[2]);
    seen.fence = std::stoll(row[3]);
    seen.state = static_cast<queues::State>(std::stoll(row[4]));
    seen.generation = std::stoll(row[5]);
    std::istringstream texts(row[6]);
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

void QueueStepRun::Compare(const std::string& id, const SeenSession& now, const QueuePicture& all) {
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
  if (now.numbers.size() > before.numbers.size() && now.generation != all.generation)
    Violation("a message entered a session of an older generation");
  if (now.fence > before.fence && now.state == queues::State::kHeld && all.HasOlder(now.generation))
    Violation("a new generation did not wait for the old one");
  for (const std::int64_t number : now.numbers) visible_.try_emplace(number, commit_);
  // Of a pair the first was not sent when the commit of the second had been answered.
  for (std::size_t i = before.numbers.size(); i < now.numbers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (visible_.at(now.numbers[i]) <= asked_.at(now.numbers[j]))
        Violation(fmt::format("Q1: {} was sent after the commit of {}, and stands before it",
                              now.numbers[j], now.numbers[i]));
}

/// Whatever crashed: one healthy consumer gets and finishes all that is left.
void QueueStepRun::Judge() {
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
                                 if (Expect(result)) Told(report, result.value().outcomes.front());
                               });
      });
    }
    if (IsDrained()) return Missing();
  }
  if (!has_violations()) Violation("Q4: something is left that nobody can have");
}

bool QueueStepRun::IsDrained() const {
  return picture_->staged.empty() && std::ranges::all_of(picture_->sessions, [](const auto& each) {
           return each.second.head == each.second.next;
         });
}

void QueueStepRun::Missing() {
  std::multiset<std::int64_t> stored;
  for (const auto& [id, session] : picture_->sessions)
    stored.insert(session.numbers.begin(), session.numbers.end());
  for (const std::int64_t number : answered_)
    if (stored.count(number) != 1)
      Violation(fmt::format("Q4: message {} is there {} times", number, stored.count(number)));
}

}  // namespace tenure::stepped
