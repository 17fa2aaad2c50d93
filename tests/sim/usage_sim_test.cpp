// Usage under the simulation: many seeds, and planted bugs that must be found.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "messages/messages.hpp"
#include "sessions/sessions.hpp"
#include "sim/frame.hpp"
#include "sim/usage_book.hpp"
#include "tasks/task.hpp"
#include "usage/sender.hpp"
#include "usage/usage.hpp"

namespace tenure::sim {
namespace {

constexpr int kSteps = 45;
constexpr std::int64_t kMinuteMs = 60'000;
/// The second does not divide the first.
constexpr std::array<std::int64_t, 3> kIntervalsMs{kMinuteMs, 45'000, 3 * kMinuteMs};
/// Runs begin on a multiple of all of them, so that windows lie the same way.
constexpr std::int64_t kGridMs = 3 * kMinuteMs;
constexpr std::int64_t kSlowestCommitMs = 20'000;
constexpr std::int64_t kNeverMs = 100'000'000'000;

using PostAnswer = base::UniqueFunction<usage::PostReply>;

struct UsageSettings {
  sessions::Options sessions{};
  usage::Options usage{};
};

struct UsageServer final : Server {
  /// Gets every request of the sender.
  using Receiver = std::function<void(usage::Post post, PostAnswer answer)>;
  UsageServer(Ensemble::Process& process, const UsageSettings& settings, Receiver receiver)
      : sessions(*process.store, settings.sessions, process.metrics),
        messages(std::make_unique<messages::Messages>(*process.store, *process.wake, process.name(),
                                                      process.clock, process.metrics)),
        usage(*process.store, sessions, *messages, *process.wake, settings.usage, process.metrics) {
    if (!settings.usage.send) return;
    sender = std::make_unique<usage::Sender>(usage, *messages, *process.wake, "sim",
                                             std::move(receiver));
    sender->Start();
  }

  /// The claim for which its sender waits is told that the process stops; all else hears nothing.
  ~UsageServer() override {
    if (sender) sender->Stop();
    messages.reset();
  }

  sessions::Sessions sessions;
  std::unique_ptr<messages::Messages> messages;
  usage::Usage usage;
  std::unique_ptr<usage::Sender> sender{};
};

/// One seed: users who start, upgrade and end sessions, tasks that close windows, put them into
/// chunks and tidy up, an operator who sets factors, the senders of all processes, a receiver, and
/// a scheduler that decides at every step who does what and what goes wrong.
///
/// Processes crash before and after any statement and commit, commit slowly, lose the store before
/// COMMIT and the reply after it. Everything stands still for many windows, and is caught up with.
/// The ensemble comes back with another interval; an endpoint is set late. The receiver refuses,
/// is down, takes its time beyond the sender's lease, and loses answers to what it has taken.
///
/// What is checked: every commit and every request (usage_book.hpp); and that, once the faults
/// stop, all that is closed is delivered, and adds up.
class UsageRun final : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 2;
  /// What is wrong on purpose.
  enum class Planted {
    kNothing,
    kChunkIsForgotten,    ///< a chunk goes from the record before the receiver has taken it
    kSilenceIsConsent,    ///< no answer counts as an acknowledgement
    kFactorReachesBack,   ///< a factor counts in windows that are closed
    kRemovedBeforeTaken,  ///< sessions are removed as soon as their windows are closed
    kWindowIsSkipped,     ///< a number is left out
    kEndIsMoved,          ///< an end is written down a minute too early
  };

  UsageRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
      : SeedRun(ensemble, seed, kSteps), planted_(planted) {
    // A receiver that refuses and fails is what this is about.
    base::SetLogLevel(base::LogLevel::kError);
    clock().Advance(kGridMs - clock().WallMs() % kGridMs);
    Weather weather;
    weather.crash = Pick({0, 3, 10});
    weather.lost_reply = Pick({0, 5, 15});
    weather.slow = Pick({0, 5, 15});
    weather.unavailable = Pick({0, 2, 8});
    weather.slowest_commit_ms = kSlowestCommitMs;
    // There is no endpoint at first, and nothing is removed.
    const bool is_late = Chance(20);

    settings_.sessions.duration_ms = 10 * kMinuteMs;
    settings_.sessions.retention_ms = is_late ? kNeverMs : 5 * kMinuteMs;
    settings_.usage.interval_ms = kIntervalsMs[Random(kIntervalsMs.size())];
    settings_.usage.factors = {1'000'000, 2'500'001, 98'765'432'101};
    settings_.usage.chunk_size = 1 + RandomMs(3);
    settings_.usage.chunks_per_step = 1 + RandomMs(2);
    settings_.usage.retention_ms = is_late ? kNeverMs : 8 * kMinuteMs;
    settings_.usage.send = !is_late;

    store::Tables& tables = ensemble.tables();
    tables.Empty({"sessions", "usage_windows", "usage_chunks", "usage_factors", "messages",
                  "dead_letters", "finished_messages", "message_claims", "message_workers",
                  "message_owners", "topics"});
    tables.Ask("update session_bounds set sealed_ms = 0, settled_ms = 0, removed_ms = 0");
    tables.Ask("drop trigger if exists planted");
    if (*TriggerOf(planted_)) tables.Ask(TriggerOf(planted_));
    book_ = std::make_unique<UsageBook>(
        tables, std::set<std::int64_t>(kIntervalsMs.begin(), kIntervalsMs.end()),
        [this](const std::string& what) { Violation(what); });
    for (int i = 0; i < 4; ++i) {
      const base::Uuid user = NewId();
      keys_.push_back({user, NewId()});
    }
    Begin(weather);
    RestartAll();
  }

  ~UsageRun() override {
    HearNothing();
    pending_.clear();
  }

  std::map<std::string, std::int64_t> counts() const override {
    return {{"records", book_->applied()}, {"windows", book_->windows()}};
  }

 private:
  /// A request that the receiver has not answered.
  struct Pending {
    std::size_t process = 0;
    usage::Post post{};
    PostAnswer answer;
  };

  /// A bug of a statement, played by the store itself.
  static const char* TriggerOf(Planted planted) {
    switch (planted) {
      case Planted::kChunkIsForgotten:
        return "create trigger planted after insert on usage_chunks when new.chunk like '%.1' "
               "begin delete from usage_chunks where number = new.number and chunk = new.chunk; "
               "end";
      case Planted::kFactorReachesBack:
        return "create trigger planted after insert on usage_factors when new.from_ms > 0 begin "
               "update usage_factors set from_ms = new.from_ms - 300000 "
               "where kind = new.kind and from_ms = new.from_ms; end";
      case Planted::kRemovedBeforeTaken:
        return "create trigger planted after update of settled_ms on session_bounds begin "
               "update session_bounds set settled_ms = sealed_ms; end";
      case Planted::kWindowIsSkipped:
        return "create trigger planted after insert on usage_windows when new.number = 3 begin "
               "update usage_windows set number = 4 where number = 3; end";
      case Planted::kEndIsMoved:
        return "create trigger planted after update of end_reason on sessions "
               "when new.end_reason < 3 and new.end_ms > new.start_ms begin "
               "update sessions set end_ms = max(new.start_ms, new.end_ms - 60000) where id = "
               "new.id; end";
      default:
        return "";
    }
  }

  // The scheduler.
  std::unique_ptr<Server> Boot(Ensemble::Process& process) override {
    return std::make_unique<UsageServer>(
        process, settings_, [this, index = process.index](usage::Post post, PostAnswer answer) {
          pending_.push_back({index, std::move(post), std::move(answer)});
        });
  }
  void Step() override {
    const auto roll = Random(100);
    clock().Advance(roll < 50   ? RandomMs(500)
                    : roll < 85 ? RandomMs(20'000)
                    : roll < 98 ? RandomMs(kMinuteMs)
                                : RandomMs(20 * kMinuteMs));  // nobody was there
    if (Chance(2)) clock().StepWall(RandomMs(4'000) - 2'000);
    const std::size_t process = Random(kProcesses);
    Act(process);
    // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
    if (Chance(75)) Drive(process);
  }

  /// What has been is closed, emitted and taken.
  void Settle() override {
    if (has_violations()) return;
    if (!settings_.usage.send) {
      settings_.usage.send = true;
      RestartAll();
    }
    clock().Advance(2 * settings_.usage.interval_ms);
    Seal(0, 10'000);
    Drive(0);
    server(0).usage.Send({1}, nullptr, Hear(0));
    Drive(0);
    Emit(0, 10'000);
    Drive(0);
    for (int round = 0; round < 60 && !has_violations() && !book_->IsDelivered(); ++round) {
      clock().Advance(10 * kMinuteMs);
      messages::DeadChangeRequest redrive;
      redrive.filter.tenant = tasks::kOwnTenant;
      server(0).messages->ChangeDead(redrive, nullptr, Hear(0));
      server(0).messages->ReapSome({true}, Hear(0));
      server(0).messages->PromoteSome(Hear(0));
      Drive(0);
      Drive(1);
      while (!pending_.empty() && !has_violations()) {
        Pending pending = std::move(pending_.back());
        pending_.pop_back();
        const std::size_t process = pending.process;
        AnswerWell(std::move(pending));
        Drive(process);
      }
    }
    if (!has_violations()) book_->CheckEnd();
  }

  void OnCommitted() override { book_->Committed(queries()); }
  /// Whoever takes its requests goes on with them; nobody hears the answers.
  void OnCrash(std::size_t process) override {
    std::erase_if(pending_, [&](const Pending& each) {
      if (each.process != process) return false;
      if (Chance(50)) book_->Received(each.post.idempotency_key, each.post.body, true);
      return true;
    });
  }

  void Act(std::size_t process) {
    const auto roll = Random(100);
    if (roll < 22) return Put(process);
    if (roll < 30) return End(process);
    if (roll < 42) return Seal(process, 1 + static_cast<int>(Random(8)));
    if (roll < 54) return Emit(process, 1 + static_cast<int>(Random(8)));
    if (roll < 80) return Answer();
    if (roll < 83) return SetFactor(process);
    if (roll < 84) {
      settings_.usage.interval_ms = kIntervalsMs[Random(kIntervalsMs.size())];
      settings_.usage.send |= Chance(70);
      return RestartAll();
    }
    Upkeep(process);
  }

  void Upkeep(std::size_t process) {
    const auto roll = Random(6);
    if (roll == 0) return server(process).messages->PromoteSome(Hear(process));
    if (roll == 1) return server(process).messages->ReapSome({true}, Hear(process));
    if (roll == 2) return server(process).sessions.ExpireSome({}, Hear(process));
    if (roll == 3) return server(process).sessions.RemoveSome({}, Hear(process));
    server(process).usage.TidySome(Hear(process));
  }

  /// All of them, with other settings: the way in which an ensemble's settings change.
  void RestartAll() {
    Trace(fmt::format("all begin anew, with windows of {} ms{}", settings_.usage.interval_ms,
                      settings_.usage.send ? "" : " and no endpoint"));
    for (std::size_t i = 0; i < kProcesses; ++i) {
      OnCrash(i);
      Restart(i);
    }
  }

  // What people and programs do.
  void Put(std::size_t process) {
    for (auto count = 1 + Random(3); count > 0; --count) {
      const sessions::PutRequest request{
          {}, keys_[Random(keys_.size())], static_cast<sessions::Kind>(1 + Random(3))};
      server(process).sessions.Put(request, nullptr, [this](db::Result<sessions::PutReply> result) {
        if (result.ok()) known_.push_back(result.value().session);
      });
    }
  }

  void End(std::size_t process) {
    if (known_.empty()) return;
    const sessions::Session& session = AnyLate(known_, 5);
    server(process).sessions.End({session.id, session.key}, nullptr, Hear(process));
  }
  void Seal(std::size_t process, int most) {
    server(process).usage.SealNext(
        [this, process, most](const db::Result<usage::SealReply>& result) {
          if (!result.ok() || !result.value().sealed) return;
          Trace(fmt::format("window {} is closed", result.value().sealed->number));
          if (most > 1) Seal(process, most - 1);
        });
  }

  /// What was found may be old by the time it is written.
  void Emit(std::size_t process, int most) {
    server(process).usage.FindRanges([this, process, most](db::Result<usage::RangesReply> result) {
      if (!result.ok() || !result.value().window) return;
      server(process).usage.Emit(std::move(result.value()),
                                 [this, process, most](const auto& emitted) {
                                   if (emitted.ok() && most > 1) Emit(process, most - 1);
                                 });
    });
  }

  void SetFactor(std::size_t process) {
    const int kind = 1 + static_cast<int>(Random(3));
    const std::int64_t millionths = Chance(30) ? RandomMs(3'000'000) : RandomMs(90'000'000'000);
    Trace(fmt::format("kind {} is to cost {}", kind, millionths));
    server(process).usage.SetFactor(kind, millionths, nullptr, Hear(process));
  }
  /// The receiver comes to one of the requests that it has.
  void Answer() {
    if (pending_.empty()) return;
    const auto at = pending_.begin() + static_cast<std::ptrdiff_t>(Random(pending_.size()));
    Pending pending = std::move(*at);
    pending_.erase(at);
    const auto roll = Random(100);
    const std::size_t process = pending.process;
    if (roll < 50) {
      AnswerWell(std::move(pending));
    } else {
      const bool takes = roll < 65;
      book_->Received(pending.post.idempotency_key, pending.post.body, takes);
      static constexpr std::array<int, 7> kStatuses{400, 413, 413, 422, 401, 429, 503};
      usage::PostReply reply{.error = "no answer"};
      if (!takes && Chance(85)) reply = {.status = kStatuses[Random(kStatuses.size())]};
      if (reply.status >= 429 && Chance(30)) reply.retry_after_ms = RandomMs(3 * kMinuteMs);
      if (planted_ == UsageRun::Planted::kSilenceIsConsent && reply.status == 0) reply.status = 200;
      Trace(fmt::format("{} is answered with {}{}", pending.post.idempotency_key, reply.status,
                        takes ? ", and taken" : ""));
      pending.answer(std::move(reply));
    }
    Drive(process);
  }

  void AnswerWell(Pending pending) {
    Trace(fmt::format("{} is taken", pending.post.idempotency_key));
    book_->Received(pending.post.idempotency_key, pending.post.body, true);
    pending.answer({.status = 200});
  }

  UsageServer& server(std::size_t process) { return ensemble().ServerOf<UsageServer>(process); }

  const Planted planted_;
  std::unique_ptr<UsageBook> book_;
  UsageSettings settings_;
  std::vector<sessions::Key> keys_;
  std::vector<sessions::Session> known_;
  std::vector<Pending> pending_;
};

TEST(SimulatedUsage, U1_U2_HoldInEveryHistory) {
  ExpectHolds<UsageRun>({500, 100'000}, {{"windows", 10}, {"records", 20}});
}

TEST(SimulatedUsage, ASeedReplaysExactly) { ExpectReplays<UsageRun>(); }

TEST(SimulatedUsage, EveryPlantedBugIsFound) {
  using enum UsageRun::Planted;
  ExpectFound<UsageRun>(500, {{kChunkIsForgotten, "U2: chunk"},
                              {kSilenceIsConsent, "the receiver has not taken it"},
                              {kFactorReachesBack, "U1: the factor of kind"},
                              {kRemovedBeforeTaken, "was removed"},
                              {kWindowIsSkipped, "U1: there is no window"},
                              {kEndIsMoved, "in a window that was closed"}});
}

}  // namespace
}  // namespace tenure::sim
