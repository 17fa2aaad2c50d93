#include "leases/waiters.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "leases/leases.hpp"

namespace tenure::leases {
namespace {

constexpr std::int64_t kRefreshMs = kTicketMs / 3;
/// All their tickets are refreshed in one statement.
constexpr std::size_t kMaxNames = 100'000;

}  // namespace

class Waiters::Waiter final : public wake::Waiter {
 public:
  Waiter(Leases& leases, AcquireCommand command, base::Caller caller, Callback done)
      : wake::Waiter({{WakeKey(command.key)}, TicketOf(command), caller.home}),
        leases_(leases),
        command_(std::move(command)),
        fences_(std::move(caller.fences)),
        done_(std::move(done)) {}

  const AcquireCommand& command() const { return command_; }

  void Ask(bool last, base::UniqueFunction<Answer> answered) override {
    AcquireCommand command = command_;
    command.wait = last ? AcquireCommand::Wait::kGiveUp : AcquireCommand::Wait::kQueue;
    leases_.Acquire(
        std::move(command), {nullptr, fences_},
        [this, answered = std::move(answered)](db::Result<AcquireOutcome> result) mutable {
          result_ = std::move(result);
          answered(AnswerOf(*result_));
        });
  }
  void Finish(const base::Fault* fault) override {
    if (fault)
      done_(*fault);
    else
      done_(std::move(*result_));
  }
  void GiveBack() override {
    const auto* grant = result_->ok() ? std::get_if<Grant>(&result_->value()) : nullptr;
    if (grant)
      leases_.Release({command_.key, command_.term, grant->fence, true}, nullptr,
                      [](const auto&) {});
  }
  void Leave(base::Task left) override {
    leases_.Release({command_.key, command_.term, ReleaseCommand::kNoGrant}, nullptr,
                    [left = std::move(left)](const auto&) mutable { left(); });
  }
  /// Its last question also leaves the store's line.
  bool asks_last() const override { return true; }

 private:
  static std::string TicketOf(const AcquireCommand& command) {
    return WakeKey(command.key) + '\n' + command.term.ToString();
  }
  static Answer AnswerOf(const db::Result<AcquireOutcome>& result) {
    // The next one asks in its place.
    if (!result.ok()) return {.kind = Answer::Kind::kEnd, .ask_in_ms = 0};
    if (const auto* grant = std::get_if<Grant>(&result.value()))
      return {.kind = Answer::Kind::kEnd, .ask_in_ms = grant->remaining.count()};
    const auto* held = std::get_if<HeldByAnother>(&result.value());
    if (!held) return {.kind = Answer::Kind::kEnd, .ask_in_ms = 0};
    const bool guarded = held->reason == HeldReason::kGuarded;
    return {.kind = guarded ? Answer::Kind::kLocked : Answer::Kind::kNotYet,
            .ask_in_ms = held->retry_after.count(),
            .look_in_ms = kRefreshMs};
  }

  Leases& leases_;
  const AcquireCommand command_;
  const std::vector<base::Fence> fences_;
  Callback done_;
  std::optional<db::Result<AcquireOutcome>> result_;
};

Waiters::Waiters(Leases& leases, db::Store& store, wake::Registry& wake, const base::Clock& clock)
    : leases_(leases),
      store_(store),
      room_(wake, clock, *this, {.look_key = kRecheckKey, .max_keys = kMaxNames}) {}

Waiters::Id Waiters::Add(AcquireCommand command, std::int64_t wait_ms, base::Caller caller,
                         Callback done) {
  return room_.Add(
      std::make_shared<Waiter>(leases_, std::move(command), std::move(caller), std::move(done)),
      wait_ms);
}

void Waiters::Counted(std::int64_t waiting) { leases_.probe().Waiting(waiting); }

RefreshRequest Waiters::AllTickets() const {
  RefreshRequest request;
  for (const auto& waiter : room_.Waiting()) {
    const AcquireCommand& command = static_cast<const Waiter&>(*waiter).command();
    request.tickets.push_back({command.key, command.term});
  }
  const auto key = [](const TicketRef& ticket) { return std::tie(ticket.key, ticket.term); };
  std::sort(request.tickets.begin(), request.tickets.end(),
            [&](const TicketRef& a, const TicketRef& b) { return key(a) < key(b); });
  const auto repeated =
      std::unique(request.tickets.begin(), request.tickets.end(),
                  [&](const TicketRef& a, const TicketRef& b) { return key(a) == key(b); });
  request.tickets.erase(repeated, request.tickets.end());
  return request;
}

/// The store may be away: then the tickets die after a while, and stand again, at the end of the
/// line, with the next question. Nobody is told: who waits learns it when its time is over.
void Waiters::Look(wake::Poller::Cause cause, base::UniqueFunction<wake::WaitingRoom::Found> done) {
  RefreshRequest request = AllTickets();
  if (request.tickets.empty()) return done({});
  const bool refresh = cause == wake::Poller::Cause::kTime;
  auto looked = [refresh, done = std::move(done)](const db::Result<RefreshReply>& result) mutable {
    wake::WaitingRoom::Found found;
    if (refresh) found.next.in_ms = kRefreshMs;
    if (result.ok())
      for (const LeaseKey& key : result.value().free) found.keys.push_back(WakeKey(key));
    done(std::move(found));
  };
  if (refresh)
    store_.Submit(refresh_, nullptr, std::move(request), std::move(looked));
  else
    store_.Submit(free_, nullptr, std::move(request), std::move(looked));
}

}  // namespace tenure::leases
