// Push under the simulation: many seeds, and planted bugs that must be found.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/log.hpp"
#include "leases/fence_check.hpp"
#include "leases/leases.hpp"
#include "messages/messages.hpp"
#include "push/deliverer.hpp"
#include "push/subscriptions.hpp"
#include "queues/queues.hpp"
#include "sim/frame.hpp"

namespace tenure::sim {
namespace {

constexpr auto kTenant = "t";
constexpr std::int64_t kMaxInFlight = 2;
constexpr std::int64_t kPushTimeoutMs = 10'000;
constexpr std::int64_t kMaxAttempts = 3;
/// Below what lies between the end of a hold as its holder believes it and as the store has it.
constexpr std::int64_t kSlowestPushCommitMs = 400;

/// A request on its way: it waits for its turn, or is under way.
struct Errand {
  std::size_t process = 0;
  push::Endpoint endpoint{};
  std::string topic{};
  base::Uuid id{};
  std::function<bool()> may_begin{};
  push::Courier::Done done{};
  std::int64_t begun_ms = 0;  // 0: it waits
  bool is_given_up = false;
};

struct PushServer final : Server {
  using Send = decltype(push::DeliveryParts::deliver);
  using GiveUp = decltype(push::DeliveryParts::give_up);
  PushServer(Ensemble::Process& process, Send send, GiveUp give_up)
      : probe(process.metrics),
        leases(*process.store, *process.wake, process.name(), process.clock, process.metrics),
        messages(*process.store, *process.wake, process.name(), process.clock, process.metrics),
        queues(*process.store, *process.wake, messages, process.clock),
        subscriptions(*process.store, *process.wake, &vault),
        deliverer({.subscriptions = subscriptions,
                   .messages = messages,
                   .queues = queues,
                   .leases = leases,
                   .wake = *process.wake,
                   .clock = process.clock,
                   .probe = probe,
                   .vault = vault,
                   .process = process.name(),
                   .deliver = std::move(send),
                   .give_up = std::move(give_up)}) {
    messages.StartScheduler();
    deliverer.Start();
  }

  const push::Vault vault = push::Vault::Parse("k:" + base::EncodeBase64(std::string(32, 'k')));
  push::Probe probe;
  leases::Leases leases;
  messages::Messages messages;
  queues::Queues queues;
  push::Subscriptions subscriptions;
  push::Deliverer deliverer;
};

/// One seed: producers, two subscriptions at the processes of an ensemble, operators who change, disable, rotate
/// and delete them, endpoints that answer anything, late or never, and a scheduler that decides at every
/// step who does what and what goes wrong.
///
/// Processes crash before and after any statement and commit (so between a claim and its request, and
/// between a 2xx and its acknowledgement), commit slowly, lose the store before COMMIT and the reply after
/// it, and hear nothing from their store for longer than their leases last. Nobody is told of anything that
/// another process commits.
///
/// What is checked:
///  (a) a request begins only while its process has the subscription's lease by the tables, and for a message of
///      the subscription's topic;
///  (b) never more than max_in_flight are under way of one subscription, whoever sends them;
///  (c) M2: a message goes from the record only when an endpoint said 2xx to it;
///  (d) attempts are those that were answered so, or not at all; a crash of a process is none of a message's;
///  (e) a subscription is gone only by a 410 to what it was then;
///  (f) M1: once the faults stop, all that is left is delivered.
class PushRun final : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 3;
  /// What is wrong on purpose.
  enum class Planted {
    kNothing,
    kBeginsAnyway,  ///< nobody asks once more before a request leaves, and what waits is not taken back
    kNeverCutOff,        ///< what is under way goes on when the lease is lost
    kRefusalIsTaken,     ///< a refusal counts as an acknowledgement
    kFaultIsAnAttempt,   ///< what speaks of the endpoint is held against the message
    kAnswerIsForgotten,  ///< an answer never gets to whoever waits for it
    kOldGoneCounts,      ///< a 410 to what a subscription was disables what it is
  };

  PushRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
      : SeedRun(ensemble, seed, kSteps), planted_(planted) {
    base::SetLogLevel(base::LogLevel::kError);  // endpoints that fail are what this is about
    clock().Advance(20'000);                    // no lease of an earlier run
    ensemble.tables().Empty({"leases", "lease_floors", "lease_history", "lease_tickets",
                             "subscriptions", "subscription_topics", "messages", "dead_letters",
                             "finished_messages", "message_claims", "message_workers",
                             "message_keys", "message_owners", "topics"});
    Weather weather;
    weather.crash = Pick({0, 3, 8});
    weather.lost_reply = Pick({0, 5, 12});
    weather.slow = Pick({0, 5, 12});
    weather.unavailable = Pick({0, 2, 6});
    weather.slowest_commit_ms = kSlowestPushCommitMs;
    weather.slow_once = true;
    for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
    Begin(weather);
    SetCalm(true);
    for (const char* topic : {"a", "b", "c"}) {
      messages::TopicChange change;
      change.tenant = kTenant;
      change.name = topic;
      change.max_attempts = kMaxAttempts;
      of(0).messages.ChangeTopic(change, nullptr, Hear(0));
    }
    Put(0, "s", "a", "1", true);
    Put(0, "t", "b", "1", true);
    DriveOne(0);
    SetCalm(false);
  }

  ~PushRun() override {
    HearNothing();
    errands_.clear();
    for (std::size_t i = 0; i < kProcesses; ++i) of(i).messages.Stop();
  }

  std::map<std::string, std::int64_t> counts() const override {
    return {{"requests", begun_}, {"requests cut off", cut_off_}, {"acknowledged", taken_}};
  }

 private:
  static constexpr int kSteps = 120;

  // The scheduler.

  std::unique_ptr<Server> Boot(Ensemble::Process& process) override {
    const std::size_t index = process.index;
    return std::make_unique<PushServer>(
        process,
        [this, index](const push::Endpoint& endpoint, const push::Parcel& message,
                      std::function<bool()> may_begin, push::Courier::Done done) {
          errands_.push_back({.process = index,
                              .endpoint = endpoint,
                              .topic = message.topic,
                              .id = message.id,
                              .may_begin = std::move(may_begin),
                              .done = std::move(done)});
        },
        [this, index](std::uint64_t group) {
          if (planted_ == Planted::kNeverCutOff) return;
          for (Errand& errand : errands_) {
            if (planted_ == Planted::kBeginsAnyway && errand.begun_ms == 0) continue;
            errand.is_given_up |= errand.process == index && errand.endpoint.group == group;
          }
        });
  }
  void OnOpen(db::Store& store) override {
    static leases::LeaseFenceCheck fence_check;  // it has no state, and outlives every store
    store.SetFenceCheck(fence_check);
  }
  void OnCrash(std::size_t process) override {
    // Its connections close; whether an endpoint got to a request before, nobody knows.
    for (const Errand& errand : errands_)
      if (errand.process == process && errand.begun_ms > 0 && Chance(30))
        said_yes_.insert(IdOf(errand));
    std::erase_if(errands_, [&](const Errand& errand) { return errand.process == process; });
  }
  /// Timers run in every process, though its store may say nothing.
  void Pass(std::int64_t ms) override {
    clock().Advance(ms);
    for (std::size_t i = 0; i < kProcesses; ++i)
      if (i != driven_) ensemble().RunTimers(i);
    CutOff();
  }
  void DriveOne(std::size_t process) {
    driven_ = process;
    Drive(process);
    driven_ = kProcesses;
    CutOff();
  }
  void Step() override {
    const auto roll = Random(100);
    Pass(roll < 50 ? RandomMs(50) : roll < 90 ? RandomMs(1'200) : RandomMs(9'000));
    TimeOut();
    const std::size_t process = Random(kProcesses);
    Act(process);
    if (Chance(75)) DriveOne(process);
  }
  void Act(std::size_t process) {
    const auto roll = Random(100);
    if (roll < 22) return Enqueue(process);
    if (roll < 82) return Serve();
    if (roll < 92) return Operate(process);
  }

  // What people do.

  void Enqueue(std::size_t process) {
    messages::EnqueueRequest request;
    request.tenant = kTenant;
    const std::string topic(1, static_cast<char>('a' + Random(3)));
    for (std::uint64_t i = 0; i <= Random(3); ++i) {
      messages::NewMessage message;
      message.topic = topic;
      message.payload = "1";
      request.messages.push_back(std::move(message));
    }
    of(process).messages.Enqueue(std::move(request), nullptr, Hear(process));
  }
  void Put(std::size_t process, const std::string& name, const std::string& topic,
           const std::string& path, std::optional<bool> enabled) {
    push::PutCommand put;
    put.key = {kTenant, name};
    put.topic = topic;
    put.url = "https://hooks.example.com/" + path;
    put.max_in_flight = kMaxInFlight;
    put.timeout_ms = kPushTimeoutMs;
    put.enabled = enabled;
    Change(process, put);
  }
  void Change(std::size_t process, push::Command command) {
    of(process).subscriptions.Change(std::move(command), nullptr, Hear(process));
  }
  void Operate(std::size_t process) {
    const std::string name = Chance(50) ? "s" : "t";
    const push::SubscriptionKey key{kTenant, name};
    const auto roll = Random(10);
    if (roll < 2) return Change(process, push::RotateCommand{key});
    if (roll < 3) return Change(process, push::RemoveCommand{key});
    std::optional<bool> enabled;
    if (roll < 6) enabled = roll < 5;
    Put(process, name, std::string(1, static_cast<char>('a' + Random(3))), Chance(50) ? "1" : "2",
        enabled);
  }

  // What requests and endpoints do.

  void End(std::size_t which, http::OutgoingReply reply) {
    Errand errand = std::move(errands_[which]);
    errands_.erase(errands_.begin() + static_cast<std::ptrdiff_t>(which));
    if (planted_ == Planted::kAnswerIsForgotten && reply.status == 200 && Chance(20)) return;
    errand.done({std::move(reply), 1});
  }
  static http::OutgoingReply Silence(
      bool maybe_received,
      http::OutgoingReply::OwnDoing own_doing = http::OutgoingReply::OwnDoing::kNone) {
    return {.error = "x", .maybe_received = maybe_received, .own_doing = own_doing};
  }
  /// Soon after it was given up, and before time passes.
  void CutOff() {
    for (std::size_t i = 0; i < errands_.size();) {
      if (!errands_[i].is_given_up || errands_[i].process == driven_) {
        ++i;
        continue;
      }
      const bool begun = errands_[i].begun_ms > 0;
      if (begun && Chance(50)) said_yes_.insert(IdOf(errands_[i]));
      cut_off_ += begun;
      Trace(fmt::format("p{} cuts off {}", errands_[i].process, Shown(errands_[i])));
      End(i, Silence(begun, http::OutgoingReply::OwnDoing::kGivenUp));
      i = 0;
    }
  }
  void TimeOut() {
    for (std::size_t i = 0; i < errands_.size();) {
      if (errands_[i].begun_ms == 0 || Now() - errands_[i].begun_ms < kPushTimeoutMs) {
        ++i;
        continue;
      }
      ++faults_[IdOf(errands_[i])];
      End(i, Silence(true));
      i = 0;
    }
  }
  void Serve() {
    if (errands_.empty()) return;
    const std::size_t which = Random(errands_.size());
    errands_[which].begun_ms > 0 ? Answer(which) : BeginOne(which);
  }
  void BeginOne(std::size_t which) {
    Errand& errand = errands_[which];
    if (planted_ != Planted::kBeginsAnyway && !errand.may_begin())
      return End(which, Silence(false, http::OutgoingReply::OwnDoing::kGivenUp));
    Trace(fmt::format("p{} begins {}", errand.process, Shown(errand)));
    CheckBeginning(errand);
    ++begun_;
    errand.begun_ms = Now();
    if (!calm() && Chance(10)) End(which, Silence(false));  // no connection
  }
  void CheckBeginning(const Errand& errand) {
    const std::string& name = errand.endpoint.key.name;
    const std::int64_t holds = ensemble().tables().Number(fmt::format(
        "select count(*) from leases where tenant = '{}' and name = 'push/{}' and holder = 'p{}' "
        "and term is not null and expires_ms > {}",
        kTenant, name, errand.process, clock().WallMs()));
    if (holds != 1)
      Violation(fmt::format("p{} begins a request without the lease", errand.process));
    if (errand.topic != errand.endpoint.topic)
      Violation(fmt::format("{} gets a message of {}", name, errand.topic));
    const auto under_way = std::ranges::count_if(errands_, [&](const Errand& other) {
      return other.begun_ms > 0 && other.endpoint.id == errand.endpoint.id;
    });
    if (under_way >= kMaxInFlight)
      Violation(fmt::format("{} has more than {} requests under way", name, kMaxInFlight));
  }
  void Answer(std::size_t which) {
    const Errand& errand = errands_[which];
    const auto roll = calm() ? 0 : Random(100);
    if (roll < 50) {
      said_yes_.insert(IdOf(errand));
      if (calm() || !Chance(15)) return Say(which, 200);
      ++faults_[IdOf(errand)];  // silence, for all that we know
      return End(which, Silence(true));
    }
    if (roll < 64) {
      ++faults_[IdOf(errand)];
      return Say(which, planted_ == Planted::kRefusalIsTaken ? 200 : 500);
    }
    if (roll < 76) return Say(which, planted_ == Planted::kFaultIsAnAttempt ? 500 : 503);
    if (roll < 82) return Say(which, 429, 3'000);
    if (roll < 88) {
      said_gone_.insert({errand.endpoint.id.ToString(), errand.endpoint.revision});
      if (planted_ == Planted::kOldGoneCounts) DisableAnyway(errand);
      return Say(which, 410);
    }
  }
  void DisableAnyway(const Errand& errand) {
    ensemble().tables().Ask(fmt::format(
        "update subscriptions set gone_ms = 1, revision = revision + 1 where name = '{}'",
        errand.endpoint.key.name));
  }
  void Say(std::size_t which, int status, std::optional<std::int64_t> retry_after_ms = {}) {
    Trace(fmt::format("{} hears {}", Shown(errands_[which]), status));
    http::OutgoingReply reply;
    reply.status = status;
    reply.retry_after_ms = retry_after_ms;
    End(which, std::move(reply));
  }
  /// Ids are another each time; the order in which they are met is not.
  std::string Shown(const Errand& errand) {
    const auto number = numbers_.try_emplace(errand.id, numbers_.size() + 1).first->second;
    return fmt::format("{} {}", errand.endpoint.key.name, number);
  }

  // The judge.

  void OnCommitted() override {
    store::Tables& tables = ensemble().tables();
    std::set<std::string> there;
    for (const char* table : {"messages", "dead_letters"})
      for (const auto& row : tables.Ask(
               fmt::format("select {}, attempts, crashes from {}", tables.Id("id"), table))) {
        const std::string& id = row.at(0);
        there.insert(id);
        known_.insert(id);
        if (std::stoll(row.at(1)) > Faults(id))
          Violation(fmt::format("a message counts {} attempts of {}", row.at(1), Faults(id)));
        if (row.at(2) != "0") Violation("a message counts a crash");
      }
    for (auto it = known_.begin(); it != known_.end();) {
      if (there.contains(*it)) {
        ++it;
        continue;
      }
      if (!said_yes_.contains(*it)) Violation("M2: a message is acknowledged, and nobody said 2xx");
      ++taken_;
      it = known_.erase(it);
    }
    CheckGone();
  }
  void CheckGone() {
    store::Tables& tables = ensemble().tables();
    std::set<std::string> gone;
    std::map<std::string, std::int64_t> revisions;
    for (const auto& row : tables.Ask(
             fmt::format("select {}, revision, gone_ms from subscriptions", tables.Id("id")))) {
      const std::int64_t revision = revisions[row.at(0)] = std::stoll(row.at(1));
      if (row.at(2) == "0") continue;
      gone.insert(row.at(0));
      if (gone_.contains(row.at(0))) continue;
      // A batch may change it before and behind that.
      const std::int64_t before = revisions_[row.at(0)];
      const bool was_said = std::ranges::any_of(said_gone_, [&](const auto& said) {
        return Digits(said.first) == row.at(0) && said.second >= before && said.second < revision;
      });
      if (!was_said) Violation("a subscription is gone, and nobody said 410 to what it was");
    }
    gone_ = std::move(gone);
    revisions_ = std::move(revisions);
  }
  static std::string Digits(std::string id) {
    std::erase(id, '-');
    return id;
  }
  static std::string IdOf(const Errand& errand) { return Digits(errand.id.ToString()); }
  std::int64_t Faults(const std::string& id) const {
    const auto found = faults_.find(id);
    return found == faults_.end() ? 0 : found->second;
  }

  /// Two endpoints that are well get all that is left. Whoever has the other's topic gives it back first.
  void Settle() override {
    // What operators have asked for before.
    for (std::size_t i = 0; i < kProcesses; ++i) DriveOne(i);
    for (const auto& [name, topic] :
         {std::pair{"s", "c"}, std::pair{"t", "b"}, std::pair{"s", "a"}, std::pair{"t", "b"}}) {
      if (has_violations()) return;
      Put(0, name, topic, fmt::format("{}{}", name, topic), true);
      DriveOne(0);
    }
    const auto is_left = [this] {
      return ensemble().tables().Number(
                 "select count(*) from messages m join topics o on o.topic_id = m.topic_id "
                 "where o.name in ('a', 'b')") > 0;
    };
    constexpr int kMostRounds = 400;
    for (int round = 0; round < kMostRounds && is_left() && !has_violations(); ++round) {
      Pass(500);
      TimeOut();
      for (std::size_t i = 0; i < kProcesses; ++i) DriveOne(i);
      for (std::size_t left = errands_.size(); left-- > 0 && !errands_.empty();) Serve();
    }
    if (is_left() && !has_violations()) {
      for (const auto& row : ensemble().tables().Ask(
               "select s.name, s.topic, s.enabled, s.gone_ms, s.failures, s.next_ms, l.holder, "
               "l.expires_ms from subscriptions s left join leases l on l.name = 'push/' || "
               "s.name"))
        Trace(fmt::format("{} of {}: {}, now {}", row.at(0), row.at(1),
                          fmt::join(row.begin() + 2, row.end(), " "), clock().WallMs()));
      Violation("M1: something is left that nobody delivers");
    }
    for (std::size_t i = 0; i < kProcesses; ++i) DriveOne(i);
  }

  PushServer& of(std::size_t process) { return ensemble().ServerOf<PushServer>(process); }

  const Planted planted_;
  std::size_t driven_ = kProcesses;  // whose lanes run; kProcesses: nobody's
  std::vector<Errand> errands_;
  std::map<base::Uuid, std::size_t> numbers_;
  std::set<std::string> said_yes_;
  std::map<std::string, std::int64_t> faults_;                // answers that are attempts
  std::set<std::pair<std::string, std::int64_t>> said_gone_;  // to which id and revision
  std::set<std::string> known_;                               // messages on record
  std::set<std::string> gone_;                                // subscriptions
  std::map<std::string, std::int64_t> revisions_;             // of them, as of the last commit
  std::int64_t begun_ = 0;
  std::int64_t cut_off_ = 0;
  std::int64_t taken_ = 0;
};

TEST(SimulatedPush, M1_M2_HoldInEveryHistory) {
  ExpectHolds<PushRun>({12, 20'000},
                       {{"requests", 10}, {"requests cut off", 0.3}, {"acknowledged", 5}});
}

TEST(SimulatedPush, ASeedReplaysExactly) { ExpectReplays<PushRun>(3); }

TEST(SimulatedPush, EveryPlantedBugIsFound) {
  using enum PushRun::Planted;
  ExpectFound<PushRun>(300, {{kBeginsAnyway, "begins a request without the lease"},
                             {kNeverCutOff, "requests under way"},
                             {kRefusalIsTaken, "M2: a message"},
                             {kFaultIsAnAttempt, "attempts of"},
                             {kAnswerIsForgotten, "M1: something is left"},
                             {kOldGoneCounts, "nobody said 410", 27}});
}

}  // namespace
}  // namespace tenure::sim
