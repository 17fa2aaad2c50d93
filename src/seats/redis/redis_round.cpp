#include "seats/redis/redis_round.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"

namespace tenure::seats {
namespace {

/// How soon a Redis that does not answer is asked again.
constexpr std::int64_t kAwayMs = 1'000;
/// How many records wait to be dropped. What does not fit is dropped by the sweep, or lapses.
constexpr std::size_t kMostOver = 100'000;
/// Of how many licences it is remembered when to ask about them again.
constexpr std::size_t kMostRemembered = 100'000;
/// How many are adopted in one transaction.
constexpr std::size_t kAdoptedAtOnce = 1'000;
/// Records of adoptions that lie so near to each other are put together.
constexpr std::int64_t kTogetherMs = 500;

}  // namespace

std::string RecordOf(const base::Uuid& license, std::int64_t slot) {
  return fmt::format("{}:{}", license.ToString(), slot);
}

/// A question about the seats of a licence that only the Redis keeps.
struct RedisRound::Search {
  base::Uuid license{};
  base::UniqueFunction<GivenOn> done{};
  std::optional<UseNow> use{};  ///< nothing: only what is over is given on
  std::int64_t after = 0;
  std::int64_t next_in_ms = 0;
  GivenOn given{};

  /// Somebody may be dead in so many milliseconds.
  void Soon(std::int64_t in_ms) {
    in_ms = std::max<std::int64_t>(in_ms, 1);
    next_in_ms = next_in_ms == 0 ? in_ms : std::min(next_in_ms, in_ms);
  }
};

RedisRound::RedisRound(Seats& seats, std::unique_ptr<SeatRecords> redis, const Options& options,
                       RedisUse& use, HoldingCache& cache, RedisProbe& probe,
                       const base::Clock& clock)
    : seats_(seats),
      options_(options),
      use_(use),
      cache_(cache),
      probe_(probe),
      clock_(clock),
      redis_(std::move(redis)),
      thread_([this] { return Round(); }) {}

void RedisRound::Stop() {
  redis_->Cancel();
  thread_.Stop();
}

// Which Redis

std::int64_t RedisRound::Round() {
  const std::int64_t asked_ms = clock_.BootMs();
  if (!std::exchange(asks_store_, true))
    seats_.ReadEpoch({}, [this, asked_ms](db::Result<EpochSeen> read) {
      thread_.Post([this, asked_ms, read = std::move(read)] { Confirm(asked_ms, read); });
    });
  else if (use_.is_away())
    Greet();  // the store is away, too: who has authority may go on
  DropSome();
  const auto use = use_.Now();
  probe_.MayUse(use ? std::max<std::int64_t>(0, use->until_ms - asked_ms) : 0);
  return use ? options_.rules.authority_ms / 4 : std::min(kAwayMs, options_.rules.authority_ms / 4);
}

std::optional<SeatRecords::Greeting> RedisRound::Greet() {
  try {
    auto greeting = redis_->Greet();
    if (use_.Met(greeting.identity))
      base::LogInfo("seats.redis_back", "the Redis for heartbeats of seats answers again", {});
    return greeting;
  } catch (const RedisAway& error) {
    NoteLost(error);
    return std::nullopt;
  }
}

void RedisRound::NoteLost(const RedisAway& error) {
  if (use_.Lost())
    base::LogWarn("seats.redis_away", "the Redis for heartbeats of seats does not answer",
                  {{"error", std::string_view(error.what())}});
}

void RedisRound::Lost(const RedisAway& error) {
  NoteLost(error);
  thread_.Hasten();
}

void RedisRound::Confirm(std::int64_t asked_ms, const db::Result<EpochSeen>& read) {
  asks_store_ = false;
  const auto greeting = Greet();
  if (!read.ok()) return;
  const EpochSeen& seen = read.value();
  Confirmation all{.epoch = seen.epoch,
                   .incarnation = seen.incarnation,
                   .longest_ms = seen.longest_ms,
                   .store_ms = seen.now_ms,
                   .asked_ms = asked_ms,
                   .heard_ms = clock_.BootMs()};
  if (greeting) all.redis = {greeting->identity, greeting->now_ms};
  const auto verdict = seats::Conclude(options_.rules, all);
  if (const auto* use = std::get_if<Use>(&verdict)) {
    Take(*use, seen);
    return Note(seen, "");
  }
  // One that was only asked too slowly is still the one that it was.
  const auto* const bump = std::get_if<Bump>(&verdict);
  if (greeting && (bump || greeting->identity != seen.epoch.identity)) use_.Drop();
  if (bump) Raise(*bump);
  Note(seen, !greeting ? "the Redis does not answer"
             : seen.now_ms < seen.epoch.frozen_ms
                 ? "another Redis answers, and a change waits for the "
                   "end of the freeze"
                 : "the Redis has changed, or was asked too slowly");
}

void RedisRound::Take(const Use& use, const EpochSeen& read) {
  use_.Take(use, read.epoch.offset_ms);
  const UseNow now{{use.identity, use.epoch}, read.epoch.offset_ms, use.longest_ms, use.until_ms};
  if (!used_ || !used_->IsOf(now)) {
    base::LogInfo("seats.redis_use", "a Redis keeps heartbeats of seats",
                  {{"epoch", use.epoch}, {"redis", std::string_view(use.identity)}});
    // Records of an older epoch stand for nothing.
    over_.clear();
  }
  used_ = now;
  seats_.NoteRedisUse({use.epoch}, [](const auto&) {});
  auto licenses = cache_.Licenses();
  if (licenses.empty()) return;
  RevisionsRequest request{licenses};
  seats_.ReadRevisionsOf(std::move(request), [this, licenses = std::move(licenses)](
                                                 const db::Result<RevisionsReply>& reply) {
    if (!reply.ok()) return;
    for (std::size_t i = 0; i < licenses.size(); ++i)
      cache_.Learn(licenses[i], reply.value().revisions[i]);
  });
}

void RedisRound::Raise(const Bump& bump) {
  base::Caller caller;
  caller.actor = std::make_shared<const base::Actor>(
      base::Actor{.act = "seat_ledger.change", .person = options_.process});
  RaiseRequest request{bump.from, bump.identity, bump.offset_ms, options_.rules,
                       ToText(bump.reason)};
  seats_.RaiseRedisEpoch(
      std::move(request), std::move(caller),
      [this, reason = bump.reason](const db::Result<RaiseReply>& reply) {
        if (!reply.ok() || !reply.value().raised) return;
        probe_.Bumped(reason);
        base::LogWarn(
            "seats.redis_change",
            "another Redis keeps heartbeats of seats, or none; seats of the dead are kept "
            "until the freeze is over",
            {{"epoch", reply.value().epoch.epoch},
             {"reason", ToText(reason)},
             {"redis", std::string_view(reply.value().epoch.identity.value_or(""))}});
        thread_.Hasten();
      });
}

void RedisRound::Retired() {
  probe_.Bumped(Bump::Reason::kOperator);
  use_.Drop();
  thread_.Hasten();
}

void RedisRound::Note(const EpochSeen& read, std::string trouble) {
  const auto use = use_.Now();
  const std::int64_t left_ms = use ? std::max<std::int64_t>(0, use->until_ms - clock_.BootMs()) : 0;
  probe_.Seen(read.epoch, std::max<std::int64_t>(0, read.epoch.frozen_ms - read.now_ms));
  probe_.MayUse(left_ms);
  const base::Lock lock(mutex_);
  standing_ = {read.epoch, read.now_ms, left_ms, use.has_value(), std::move(trouble)};
}

RedisStanding RedisRound::standing() const {
  const auto use = use_.Now();
  const base::Lock lock(mutex_);
  RedisStanding now = standing_;
  now.uses = use.has_value();
  now.authority_ms = use ? std::max<std::int64_t>(0, use->until_ms - clock_.BootMs()) : 0;
  if (!now.uses && now.trouble.empty()) now.trouble = "the Redis does not answer";
  return now;
}

template <class Question>
auto RedisRound::AskOne(Question ask) -> decltype(ask()) {
  const std::int64_t begun = base::MeasureMicros();
  try {
    auto answer = ask();
    probe_.AskedRedis(base::MeasureMicros() - begun);
    if (!answer) thread_.Hasten();
    return answer;
  } catch (const RedisAway& error) {
    Lost(error);
    return {};
  }
}

// Records

/// The record promises up to half a ttl less than the row says, and counts for half a ttl: the Redis's
/// clock may go back by so much in between, and a row is asked about a ttl after its adoption.
void RedisRound::Put(const UseNow& use, std::int64_t asked_ms, std::vector<Adopted> adopted) {
  if (adopted.empty()) return;
  thread_.Post([this, use, asked_ms, adopted = std::move(adopted)] {
    const bool is_first = records_.empty();
    for (const Adopted& each : adopted)
      records_.push_back(
          {use,
           asked_ms + each.ttl_ms / 2,
           {RecordOf(each.license, each.slot), each.fence, std::min(each.ttl_ms, use.longest_ms),
            asked_ms + each.horizon_ms - each.ttl_ms / 2}});
    // Behind what waits already: then more of them go together.
    if (is_first) thread_.Post([this] { PutSome(); });
  });
}

void RedisRound::Adopt(const UseNow& use, std::int64_t asked_ms, const std::string& tenant,
                       const std::string& person, std::vector<base::Uuid> sessions) {
  for (std::size_t first = 0; first < sessions.size(); first += kAdoptedAtOnce) {
    BeatRequest request{tenant, person, {}, Adoption{use.under.epoch, options_.rules.horizon_ms}};
    const std::size_t last = std::min(first + kAdoptedAtOnce, sessions.size());
    request.sessions.assign(sessions.begin() + static_cast<std::ptrdiff_t>(first),
                            sessions.begin() + static_cast<std::ptrdiff_t>(last));
    seats_.Adopt(std::move(request), [this, use, asked_ms](const db::Result<BeatReply>& reply) {
      if (!reply.ok()) return;
      std::vector<Adopted> adopted;
      for (const auto& each : reply.value().adopted)
        if (each) adopted.push_back(*each);
      Put(use, asked_ms, std::move(adopted));
    });
  }
}

void RedisRound::AdoptNow(const std::string& tenant, const std::string& person,
                          const base::Uuid& session) {
  if (!use_.Now()) return;
  seats_.FindHoldingFacts({{session}},
                          [this, tenant, person, session](const db::Result<FactsReply>& reply) {
                            if (!reply.ok() || !reply.value().facts.front()) return;
                            const HoldingFacts& facts = *reply.value().facts.front();
                            cache_.Remember(session, facts);
                            if (!options_.rules.MayKeep(facts.ttl_ms)) return;
                            thread_.Post([this, tenant, person, session] {
                              const auto use = use_.Now();
                              const auto greeting = use ? Greet() : std::nullopt;
                              // The clock of another one says nothing.
                              if (greeting && greeting->identity == use->under.identity)
                                Adopt(*use, greeting->now_ms, tenant, person, {session});
                            });
                          });
}

void RedisRound::PutSome() {
  while (!records_.empty()) {
    const Record first = records_.front();
    std::vector<SeatRecords::PutAsked> asked;
    std::int64_t not_after_ms = first.not_after_ms;
    while (!records_.empty() && asked.size() < options_.batch) {
      const Record& next = records_.front();
      if (!next.use.IsOf(first.use) || next.not_after_ms - not_after_ms > kTogetherMs ||
          not_after_ms - next.not_after_ms > kTogetherMs)
        break;
      not_after_ms = std::min(not_after_ms, next.not_after_ms);
      asked.push_back(next.asked);
      records_.pop_front();
    }
    if (!use_.Counts(first.use) || use_.is_away()) continue;
    AskOne([&] { return redis_->Put(first.use.under, not_after_ms, asked); });
  }
}

void RedisRound::Drop(const base::Uuid& license, std::int64_t slot, std::int64_t fence) {
  thread_.Post([this, over = SeatRecords::Over{RecordOf(license, slot), fence}]() mutable {
    if (over_.size() >= kMostOver) return;
    const bool is_first = over_.empty();
    over_.push_back(std::move(over));
    if (is_first) thread_.Post([this] { DropSome(); });
  });
}

void RedisRound::DropNow(const base::Uuid& license, std::int64_t slot, std::int64_t fence,
                         base::UniqueFunction<bool> done) {
  thread_.Post([this, over = SeatRecords::Over{RecordOf(license, slot), fence},
                done = std::move(done)]() mutable {
    const auto use = use_.Now();
    if (!use) return done(false);
    const auto dropped = AskOne([&]() -> std::optional<bool> {
      if (!redis_->Drop(use->under, {&over, 1})) return std::nullopt;
      return true;
    });
    done(dropped.has_value());
  });
}

/// What is not confirmed stays for the next round.
void RedisRound::DropSome() {
  while (!over_.empty()) {
    const auto use = use_.Now();
    if (!use) return;
    const std::size_t count = std::min(over_.size(), options_.batch);
    const std::vector<SeatRecords::Over> some(over_.begin(),
                                              over_.begin() + static_cast<std::ptrdiff_t>(count));
    const auto dropped = AskOne([&]() -> std::optional<bool> {
      if (!redis_->Drop(use->under, some)) return std::nullopt;
      return true;
    });
    if (!dropped) return;
    over_.erase(over_.begin(), over_.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

// Who is dead

void RedisRound::GiveOn(const base::Uuid& license, base::UniqueFunction<GivenOn> done) {
  thread_.Post([this, license, done = std::move(done)]() mutable {
    const auto use = use_.Now();
    const std::int64_t now_ms = clock_.BootMs();
    if (not_before_ms_.size() > kMostRemembered) not_before_ms_.clear();
    std::int64_t& not_before_ms = not_before_ms_[license];
    if (now_ms < not_before_ms) return done({false, not_before_ms - now_ms});
    not_before_ms = now_ms + kAwayMs;  // one question at a time
    auto search = std::make_shared<Search>();
    search->license = license;
    search->done = std::move(done);
    search->use = use;
    AskStore(search);
  });
}

void RedisRound::Ask(const base::Uuid& license, std::vector<HoldingPlace> places,
                     base::UniqueFunction<std::vector<KnownThere>> done) {
  thread_.Post([this, license, places = std::move(places), done = std::move(done)]() mutable {
    std::vector<KnownThere> known(places.size());
    const auto use = use_.Now();
    for (std::size_t first = 0; use && first < places.size(); first += options_.batch) {
      const std::size_t last = std::min(first + options_.batch, places.size());
      std::vector<std::string> names;
      for (std::size_t i = first; i < last; ++i) names.push_back(RecordOf(license, places[i].slot));
      const auto sight =
          AskOne([&] { return redis_->Look(use->under, options_.rules.margin_ms, names); });
      if (!sight) break;
      for (std::size_t i = first; i < last; ++i) {
        const auto& seen = sight->seats[i - first];
        if (!seen.known || seen.fence != places[i].fence) continue;
        known[i].until_ms = seen.soft_ms - use->offset_ms;
        if (seen.beat_ms > 0) known[i].beat_ms = seen.beat_ms - use->offset_ms;
      }
    }
    done(std::move(known));
  });
}

void RedisRound::Changed(const base::Uuid& license) {
  thread_.Post([this, license] { not_before_ms_.erase(license); });
}

void RedisRound::AskStore(const SearchPtr& search) {
  seats_.FindRedisCandidates(
      {search->license, search->after}, [this, search](db::Result<CandidatesReply> found) {
        thread_.Post([this, search, found = std::move(found)] { TakePage(search, found); });
      });
}

void RedisRound::TakePage(const SearchPtr& search, const db::Result<CandidatesReply>& found) {
  if (!found.ok()) return Conclude(search);
  const CandidatesReply& page = found.value();
  auto testimony = std::make_shared<Testimony>();
  testimony->tolerance_ms = options_.rules.tolerance_ms;
  const bool is_asked = AskRedis(*search, page, *testimony);
  for (const auto& seat : page.over) testimony->dead.push_back({seat.slot, seat.promise, 0});
  search->after = is_asked ? page.next : 0;
  if (testimony->dead.empty()) return GoOn(search);
  Settle(search, testimony);
}

/// False: it cannot testify now.
bool RedisRound::AskRedis(Search& search, const CandidatesReply& page, Testimony& testimony) {
  // Whoever is adopted from now on lives for a ttl.
  search.Soon(page.ttl_ms);
  if (page.soon_ms > 0) search.Soon(page.soon_ms - page.now_ms + options_.rules.margin_ms);
  if (page.now_ms < page.frozen_ms) search.Soon(page.frozen_ms - page.now_ms);
  if (!search.use || page.epoch != search.use->under.epoch || page.now_ms < page.frozen_ms)
    return false;
  testimony.look = {page.epoch, page.now_ms, 0};
  std::vector<CandidatesReply::Seat> absent;
  std::int64_t asked_ms = 0;
  for (std::size_t first = 0; first < page.seats.size(); first += options_.batch) {
    const std::size_t last = std::min(first + options_.batch, page.seats.size());
    std::vector<std::string> names;
    for (std::size_t i = first; i < last; ++i)
      names.push_back(RecordOf(search.license, page.seats[i].slot));
    const auto sight =
        AskOne([&] { return redis_->Look(search.use->under, options_.rules.margin_ms, names); });
    if (!sight) {
      testimony.dead.clear();
      return false;
    }
    // The latest of its times is compared with the store's: that of a clock that jumped in between.
    testimony.look.redis_ms = std::max(testimony.look.redis_ms, sight->now_ms);
    if (first == 0) asked_ms = sight->now_ms;
    for (std::size_t i = first; i < last; ++i) {
      const auto& seat = page.seats[i];
      const auto& seen = sight->seats[i - first];
      if (seen.known && seen.fence > 0 && seat.revoked)
        Drop(search.license, seat.slot, seat.promise.fence);
      if (seen.known && seen.dead_in_ms == 0)
        testimony.dead.push_back({seat.slot, seat.promise, seen.soft_ms});
      else if (seen.known)
        search.Soon(seen.dead_in_ms);
      else if (seat.promise.epoch == page.epoch)
        absent.push_back(seat);
    }
  }
  probe_.Testified(RedisProbe::Said::kDead, testimony.dead.size());
  probe_.Testified(RedisProbe::Said::kAbsent, absent.size());
  probe_.Testified(RedisProbe::Said::kAlive,
                   page.seats.size() - testimony.dead.size() - absent.size());
  if (!absent.empty()) AdoptAbsentOnes(search, std::move(absent), asked_ms);
  return true;
}

void RedisRound::Settle(const SearchPtr& search, const TestimonyPtr& testimony) {
  seats_.Settle<SweepOutcome>(SweepCommand{search->license, testimony}, nullptr,
                              [this, search](const db::Result<SweepOutcome>& swept) {
                                thread_.Post([this, search, is_done = swept.ok()] {
                                  search->given.some |= is_done;
                                  if (!is_done) search->Soon(kAwayMs);
                                  GoOn(search);
                                });
                              });
}

void RedisRound::GoOn(const SearchPtr& search) {
  if (search->after > 0)
    AskStore(search);
  else
    Conclude(search);
}

void RedisRound::AdoptAbsentOnes(const Search& search, std::vector<CandidatesReply::Seat> absent,
                                 std::int64_t asked_ms) {
  seats_.AdoptAbsentSeats({search.license, search.use->under.epoch, std::move(absent)},
                          [this, use = *search.use, asked_ms](db::Result<AbsentReply> reply) {
                            if (reply.ok()) Put(use, asked_ms, std::move(reply.value().adopted));
                          });
}

void RedisRound::Conclude(const SearchPtr& search) {
  const std::int64_t in_ms = search->next_in_ms > 0 ? search->next_in_ms : kAwayMs;
  not_before_ms_[search->license] = clock_.BootMs() + in_ms;
  search->given.next_ms = in_ms;
  search->done(search->given);
}

}  // namespace tenure::seats
