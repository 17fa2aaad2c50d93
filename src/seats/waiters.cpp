#include "seats/waiters.hpp"

#include <algorithm>

#include "db/columns.hpp"
#include "db/keys.hpp"
#include "seats/seats.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

constexpr std::int64_t kRefreshMs = kOpenTicketMs / 3;
/// All their tickets are refreshed in one statement.
constexpr std::size_t kMaxPlaces = 100'000;

using Answer = wake::Waiter::Answer;

/// The first of a line asks when a deadline passes: whatever lapses then is offered, and the
/// transaction that offers it wakes whose turn it is.
Answer NotYet(std::int64_t position, std::int64_t look_ms) {
  Answer answer{.kind = Answer::Kind::kNotYet, .look_in_ms = kRefreshMs};
  if (position == 1 && look_ms != kNever) answer.ask_in_ms = std::max<std::int64_t>(look_ms, 1);
  return answer;
}

constexpr Answer kEnd{.kind = Answer::Kind::kEnd, .ask_in_ms = 0};

}  // namespace

void RefreshHandler::WriteItems(db::Transaction& tx, Items items) {
  // The clock before the locks is right here: a ticket's life is only shortened by a wait.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const auto& places = item->request.places;
    const auto columns = db::Columns(places, &Place::license, &Place::machine);
    if (item->request.refresh)
      tx.Queue(sql::kRefreshTickets, columns, std::string_view(item->request.process),
               now_ms + kOpenTicketMs);
    RefreshReply reply;
    for (const auto row : tx.Run(sql::kFindTurns, columns, now_ms))
      reply.to_ask.push_back(places[row.ordinal()]);
    std::vector<base::Uuid> licenses;
    for (const Place& place : places) licenses.push_back(place.license);
    const db::UniqueKeys waited_for(std::move(licenses));
    const std::vector<base::Uuid> ids(waited_for.begin(), waited_for.end());
    for (const auto row : tx.Run(sql::kNextLook, ids, now_ms)) {
      if (row.IsNull(0)) continue;
      const std::int64_t in_ms = row.Int(0) - now_ms;
      reply.next_in_ms = std::min(reply.next_in_ms.value_or(in_ms), in_ms);
    }
    item->reply = std::move(reply);
  }
}

class Waiters::Waiter : public wake::Waiter {
 public:
  Waiter(Seats& seats, seats::Place where, const base::Caller& caller)
      : wake::Waiter({{WakeKey(where.license, where.machine)},
                      WakeKey(where.license, where.machine),
                      caller.home}),
        seats_(seats),
        fences_(caller.fences),
        where_(std::move(where)) {}

  const seats::Place& where() const { return where_; }
  /// Its last question leaves the ticket to whoever asks next.
  bool asks_last() const override { return true; }

 protected:
  base::Caller caller() const { return {nullptr, fences_}; }

  Seats& seats_;

 private:
  const std::vector<base::Fence> fences_;
  const seats::Place where_;
};

class Waiters::SeatWaiter final : public Waiter {
 public:
  SeatWaiter(Seats& seats, AcquireCommand command, std::optional<base::IdempotencyKey> once,
             const base::Caller& caller, Callback<Acquired> done)
      : Waiter(seats, {command.license, command.machine}, caller),
        command_(std::move(command)),
        once_(std::move(once)),
        done_(std::move(done)) {}

  void Ask(bool last, base::UniqueFunction<Answer> answered) override {
    AcquireCommand command = command_;
    command.wait = last ? AcquireCommand::Wait::kLast : AcquireCommand::Wait::kOpen;
    seats_.AskOnce(std::move(command), once_, caller(),
                   [this, answered = std::move(answered)](db::Result<Acquired> result) mutable {
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
    if (!result_->ok()) return;
    const auto* outcome = std::get_if<AcquireOutcome>(&result_->value());
    const auto* grant = outcome ? std::get_if<Grant>(outcome) : nullptr;
    // What went on under a new id may be used by whoever had it before: that is left to its deadline.
    if (!grant || grant->resumed) return;
    seats_.Settle<ReleaseOutcome>(
        ReleaseCommand{command_.license, command_.tenant, command_.person, grant->session}, nullptr,
        [](const auto&) {});
  }

 private:
  static Answer AnswerOf(const db::Result<Acquired>& result) {
    if (!result.ok()) return kEnd;
    const auto* outcome = std::get_if<AcquireOutcome>(&result.value());
    const auto* waiting = outcome ? std::get_if<Waiting>(outcome) : nullptr;
    return waiting ? NotYet(waiting->position, waiting->look_ms) : kEnd;
  }

  const AcquireCommand command_;
  const std::optional<base::IdempotencyKey> once_;
  Callback<Acquired> done_;
  std::optional<db::Result<Acquired>> result_;
};

class Waiters::TicketWaiter final : public Waiter {
 public:
  TicketWaiter(Seats& seats, TicketCommand command, std::string machine, const base::Caller& caller,
               Callback<TicketOutcome> done)
      : Waiter(seats, {command.license, std::move(machine)}, caller),
        command_(std::move(command)),
        done_(std::move(done)) {}

  void Ask(bool last, base::UniqueFunction<Answer> answered) override {
    TicketCommand command = command_;
    command.kind = last ? TicketCommand::Kind::kSee : TicketCommand::Kind::kOpen;
    seats_.Settle<TicketOutcome>(
        std::move(command), caller(),
        [this, answered = std::move(answered)](db::Result<TicketOutcome> result) mutable {
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
  /// An offer is for the ticket, whoever looks at it.
  void GiveBack() override {}

 private:
  static Answer AnswerOf(const db::Result<TicketOutcome>& result) {
    if (!result.ok()) return kEnd;
    const auto* view = std::get_if<TicketView>(&result.value());
    return view && view->position > 0 ? NotYet(view->position, view->look_ms) : kEnd;
  }

  const TicketCommand command_;
  Callback<TicketOutcome> done_;
  std::optional<db::Result<TicketOutcome>> result_;
};

Waiters::Waiters(Seats& seats, db::Store& store, wake::Registry& wake, const base::Clock& clock)
    : seats_(seats),
      store_(store),
      room_(wake, clock, *this, {.look_key = kRecheckKey, .max_keys = kMaxPlaces}) {}

Waiters::Id Waiters::AddAcquire(AcquireCommand command, std::optional<base::IdempotencyKey> once,
                                std::int64_t wait_ms, base::Caller caller,
                                Callback<Acquired> done) {
  return room_.Add(std::make_shared<SeatWaiter>(seats_, std::move(command), std::move(once), caller,
                                                std::move(done)),
                   wait_ms);
}

Waiters::Id Waiters::AddTicket(TicketCommand command, std::string machine, std::int64_t wait_ms,
                               base::Caller caller, Callback<TicketOutcome> done) {
  return room_.Add(std::make_shared<TicketWaiter>(seats_, std::move(command), std::move(machine),
                                                  caller, std::move(done)),
                   wait_ms);
}

void Waiters::Counted(std::int64_t waiting) { seats_.probe().Waiting(waiting); }

/// What only a Redis keeps is no deadline that anybody waits for: it is asked who is dead. Whatever is
/// free then is offered to the line.
void Waiters::GiveOn(const std::set<Place>& places) const {
  BeatPath* const path = seats_.path();
  if (!path) return;
  std::set<base::Uuid> licenses;
  for (const Place& place : places) licenses.insert(place.license);
  for (const base::Uuid& license : licenses) path->GiveOn(license, [](const GivenOn&) {});
}

/// The store may be away: then the tickets die after a while, and stand again, at their old place, with
/// the next question.
void Waiters::Look(wake::Poller::Cause cause, base::UniqueFunction<wake::WaitingRoom::Found> done) {
  std::set<Place> places;
  for (const auto& waiter : room_.Waiting())
    places.insert(static_cast<const Waiter&>(*waiter).where());
  if (places.empty()) return done({});
  GiveOn(places);
  RefreshRequest request;
  request.process = seats_.process();
  request.places.assign(places.begin(), places.end());
  request.refresh = cause == wake::Poller::Cause::kTime;
  const bool refresh = request.refresh;
  store_.Submit(refresh_, nullptr, std::move(request),
                [refresh, done = std::move(done)](const db::Result<RefreshReply>& result) mutable {
                  wake::WaitingRoom::Found found;
                  if (refresh) found.next.in_ms = kRefreshMs;
                  if (refresh && result.ok() && result.value().next_in_ms)
                    found.next.in_ms =
                        std::clamp<std::int64_t>(*result.value().next_in_ms, 1, kRefreshMs);
                  if (result.ok())
                    for (const Place& place : result.value().to_ask)
                      found.keys.push_back(WakeKey(place.license, place.machine));
                  done(std::move(found));
                });
}

}  // namespace tenure::seats
