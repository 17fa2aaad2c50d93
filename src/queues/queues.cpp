#include "queues/queues.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "queues/http/json.hpp"
#include "wake/poller.hpp"

namespace tenure::queues {
namespace {

/// How long a session is asked for that a user's transaction has locked.
constexpr std::int64_t kSeizeMs = 250;
/// So often it is written down that a queue is asked for.
constexpr std::int64_t kTouchMs = 60'000;
constexpr std::size_t kMostTouched = 100'000;

}  // namespace

Queues::Queues(db::Store& store, wake::Registry& wake, messages::Messages& messages,
               const base::Clock& clock, telemetry::Registry* metrics, telemetry::Tracer* tracer)
    : probe_(metrics ? std::make_unique<Probe>(*metrics, tracer) : nullptr),
      Declare(store, messages.process(), wake),
      Pause(store, messages.process(), wake),
      Send(store, probe_.get(), messages.process(), wake),
      SendOnce(store, "queues.send_once", Send.handler(), SendAnswer, db::LaneName::UserKeys()),
      Again(store, probe_.get(), messages.process(), wake),
      AgainOnce(store, "queues.again_once", Again.handler(), AgainAnswer),
      Tidy(store, "queues.tidy", db::LaneName::Shared(0)),
      ForgetSome(store, "queues.forget", db::LaneName::Shared(0)),
      DropSome(store, "queues.drop", db::LaneName::Shared(0)),
      FindQueuesToDrain(store, "queues.find_drains"),
      Drain(store, messages.topic_cache(), probe_.get(), messages.process(), wake),
      Count(store, "queues.count"),
      List(store, "queues.list"),
      ListConsumers(store, "queues.consumers"),
      ListSessions(store, "queues.sessions"),
      Peek(store, "queues.peek"),
      ListLetters(store, "queues.letters"),
      SumLetters(store, "queues.letter_sums"),
      FindState(store, "queues.find_state"),
      FindOwner(store, "queues.find_owner"),
      FindHolds(store, "queues.find_holds"),
      FindLeft(store, "queues.find_left"),
      wake_(wake),
      clock_(clock),
      process_(messages.process()),
      drains_(store.engine().name() == "postgres"),
      find_staged_(store, "queues.find_staged"),
      touch_(store, "queues.touch", db::LaneName::Shared(1)),
      accept_(store, events_, probe_.get(), messages.process(), wake),
      report_(store, ReportHandler::Locking::kShares, events_, probe_.get(), messages.process(),
              wake),
      seize_(store, ReportHandler::Locking::kSeizes, events_, probe_.get(), messages.process(),
             wake),
      act_once_(store, "queues.act_once", seize_.handler(), ActAnswer, db::LaneName::UserKeys()),
      waiters_(*this, messages.consumers()) {}

/// By itself, so that no accept waits for a queue's row.
void Queues::Touch(const AcceptRequest& request) {
  {
    const base::Lock lock(mutex_);
    const std::int64_t now_ms = clock_.BootMs();
    if (touched_.size() > kMostTouched) touched_.clear();
    std::int64_t& until_ms = touched_[{request.tenant, request.queue}];
    if (now_ms < until_ms) return;
    until_ms = now_ms + kTouchMs;
  }
  touch_({request.tenant, request.queue}, nullptr, [](const auto&) {});
}

void Queues::Accept(AcceptRequest request, base::Caller caller, Callback<AcceptReply> done) {
  Touch(request);
  auto answered = [asked_ms = clock_.BootMs(),
                   done = std::move(done)](db::Result<AcceptReply> result) mutable {
    if (result.ok()) result.value().asked_boot_ms = asked_ms;
    done(std::move(result));
  };
  if (!drains_) return accept_(std::move(request), std::move(caller), std::move(answered));
  DrainRequest drain{request.tenant, request.queue};
  auto accept = [this, request = std::move(request), caller = std::move(caller),
                 answered = std::move(answered)](const auto&) mutable {
    // Whether or not that was done: what is there is handed out.
    accept_(std::move(request), std::move(caller), std::move(answered));
  };
  find_staged_(
      drain, nullptr,
      [this, drain, accept = std::move(accept)](const db::Result<StagedReply>& staged) mutable {
        if (!staged.ok() || !staged.value().any) return accept(staged);
        Drain(std::move(drain), nullptr, std::move(accept));
      });
}

/// Reports that pass over what is locked, and are asked again: only those that were passed over.
class Queues::Seizing : public std::enable_shared_from_this<Queues::Seizing> {
 public:
  Seizing(Queues& queues, ReportRequest request, base::Caller caller, Callback<ReportReply> done)
      : queues_(queues),
        request_(std::move(request)),
        caller_(std::move(caller)),
        done_(std::move(done)),
        until_boot_ms_(queues.clock_.BootMs() + kSeizeMs) {
    for (std::size_t i = 0; i < request_.items.size(); ++i) places_.push_back(i);
  }

  void Ask() {
    ReportRequest part{request_.tenant, request_.queue, {}};
    for (const std::size_t place : places_) part.items.push_back(request_.items[place]);
    queues_.seize_(std::move(part), caller_,
                   [self = shared_from_this()](db::Result<ReportReply> result) {
                     self->Take(std::move(result));
                   });
  }

 private:
  void Take(db::Result<ReportReply> result) {
    if (!result.ok()) return done_(std::move(result));
    ReportReply& part = result.value();
    reply_.now_ms = part.now_ms;
    reply_.outcomes.resize(request_.items.size());
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (part.outcomes[i].kind == ReportOutcome::Kind::kContended) left.push_back(places_[i]);
      reply_.outcomes[places_[i]] = std::move(part.outcomes[i]);
    }
    places_ = std::move(left);
    const std::int64_t next_boot_ms = queues_.clock_.BootMs() + backoff_.NextMs();
    if (places_.empty() || next_boot_ms > until_boot_ms_) return done_(std::move(reply_));
    queues_.wake_.Wait("", next_boot_ms, [self = shared_from_this()] { self->Ask(); });
  }

  Queues& queues_;
  const ReportRequest request_;
  const base::Caller caller_;
  Callback<ReportReply> done_;
  const std::int64_t until_boot_ms_;
  std::vector<std::size_t> places_;  // of those that are not decided
  ReportReply reply_;
  wake::Backoff backoff_;
};

/// The same for what happens once per key: what was passed over left nothing under the key.
class Queues::ActingOnce : public std::enable_shared_from_this<Queues::ActingOnce> {
 public:
  using Act = db::IdempotentRequest<ReportRequest>;
  using Reply = base::IdempotentReply<ReportReply>;

  ActingOnce(Queues& queues, Act act, base::Caller caller, Callback<Reply> done)
      : queues_(queues),
        act_(std::move(act)),
        caller_(std::move(caller)),
        done_(std::move(done)),
        until_boot_ms_(queues.clock_.BootMs() + kSeizeMs) {}

  void Ask() {
    queues_.act_once_(act_, caller_, [self = shared_from_this()](db::Result<Reply> result) {
      self->Take(std::move(result));
    });
  }

 private:
  static bool IsPassedOver(const db::Result<Reply>& result) {
    const auto* const reply = result.ok() ? std::get_if<ReportReply>(&result.value()) : nullptr;
    return reply && reply->outcomes.front().kind == ReportOutcome::Kind::kContended;
  }
  void Take(db::Result<Reply> result) {
    const std::int64_t next_boot_ms = queues_.clock_.BootMs() + backoff_.NextMs();
    if (!IsPassedOver(result) || next_boot_ms > until_boot_ms_) return done_(std::move(result));
    queues_.wake_.Wait("", next_boot_ms, [self = shared_from_this()] { self->Ask(); });
  }

  Queues& queues_;
  const Act act_;
  const base::Caller caller_;
  Callback<Reply> done_;
  const std::int64_t until_boot_ms_;
  wake::Backoff backoff_;
};

void Queues::ActOnce(db::IdempotentRequest<ReportRequest> act, base::Caller caller,
                     Callback<base::IdempotentReply<ReportReply>> done) {
  std::make_shared<ActingOnce>(*this, std::move(act), std::move(caller), std::move(done))->Ask();
}

void Queues::Report(ReportRequest request, base::Caller caller, Callback<ReportReply> done) {
  if (request.items.empty()) return done(ReportReply{{}, 0});
  if (ReportHandler::LockingOf(request.items.front().kind) == ReportHandler::Locking::kShares)
    return report_(std::move(request), std::move(caller), std::move(done));
  std::make_shared<Seizing>(*this, std::move(request), std::move(caller), std::move(done))->Ask();
}

}  // namespace tenure::queues
