#include "seats/redis/redis_path.hpp"

#include <algorithm>
#include <utility>

namespace tenure::seats {
namespace {

/// When to ask again about what the store cannot tell now.
constexpr std::int64_t kAskAgainMs = 1'000;

using Done = base::UniqueFunction<db::Result<Heartbeats>>;

}  // namespace

/// Heartbeats of one request. One thread has it at a time: who asks for facts, then that of heartbeats,
/// then those of the store.
class RedisPath::Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(RedisPath& path, BeatRequest request, base::Executor* home, Done done, const UseNow& use)
      : path_(path),
        request_(std::move(request)),
        home_(home),
        done_(std::move(done)),
        use_(use),
        ways_(request_.sessions.size(), RedisProbe::Path::kStore) {
    answer_.outcomes.resize(request_.sessions.size(), NoSession());
  }

  void Start() {
    std::vector<Waiting> known;
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < request_.sessions.size(); ++i)
      if (const auto facts = path_.cache_.Find(request_.sessions[i]))
        Add(i, *facts, known);
      else
        unknown.push_back(i);
    if (unknown.empty()) return AskRedis(std::move(known));
    FactsRequest request;
    for (const std::size_t i : unknown) request.sessions.push_back(request_.sessions[i]);
    path_.seats_.FindHoldingFacts(
        std::move(request),
        [self = shared_from_this(), unknown = std::move(unknown),
         known = std::move(known)](const db::Result<FactsReply>& reply) mutable {
          for (std::size_t i = 0; reply.ok() && i < unknown.size(); ++i)
            if (const auto& facts = reply.value().facts[i]) {
              self->path_.cache_.Remember(self->request_.sessions[unknown[i]], *facts);
              self->Add(unknown[i], *facts, known);
            }
          self->AskRedis(std::move(known));
        });
  }

  // What the Redis said of one, and its time. The last of them lets the store say the rest.

  void Keep(std::size_t place, const Beat& beat, bool half_gone, std::int64_t redis_ms) {
    ways_[place] = RedisProbe::Path::kRedis;
    answer_.outcomes[place] = beat;
    answer_.now_ms = std::max(answer_.now_ms, beat.beat_ms);
    if (half_gone) extended_.push_back(request_.sessions[place]);
    Told(redis_ms);
  }
  void Adopt(std::size_t place, std::int64_t redis_ms) {
    ways_[place] = RedisProbe::Path::kAdopted;
    Told(redis_ms);
  }
  void Leave() { Told(0); }

  const UseNow& use() const { return use_; }

 private:
  /// What is somebody else's is for the store to refuse; what has a ttl that is long for the horizon would
  /// be adopted all the time.
  void Add(std::size_t place, const HoldingFacts& facts, std::vector<Waiting>& to) {
    const bool theirs = facts.tenant == request_.tenant && facts.person == request_.person;
    if (!theirs || !path_.options_.round.rules.MayKeep(facts.ttl_ms)) return;
    to.push_back({shared_from_this(),
                  place,
                  {RecordOf(facts.license, facts.slot), facts.fence,
                   std::min(facts.ttl_ms, use_.longest_ms)}});
  }
  void AskRedis(std::vector<Waiting> known) {
    untold_ = known.size();
    if (known.empty()) return AskStore(RedisProbe::Path::kAdopted);
    path_.Push(std::move(known));
  }
  void Told(std::int64_t redis_ms) {
    // The earliest: what is put there must not be promised for longer than the store knows of.
    if (redis_ms > 0) asked_ms_ = asked_ms_ > 0 ? std::min(asked_ms_, redis_ms) : redis_ms;
    if (--untold_ > 0) return;
    path_.round_.Adopt(use_, asked_ms_, request_.tenant, request_.person, std::move(extended_));
    AskStore(RedisProbe::Path::kAdopted);
  }

  /// For those that go this way; afterwards for the others.
  void AskStore(RedisProbe::Path way) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < ways_.size(); ++i)
      if (ways_[i] == way) places.push_back(i);
    if (places.empty()) return TakeStore(way, {}, Heartbeats());
    BeatRequest request{request_.tenant, request_.person, {}};
    for (const std::size_t i : places) request.sessions.push_back(request_.sessions[i]);
    if (way == RedisProbe::Path::kAdopted)
      request.adoption = {use_.under.epoch, path_.options_.round.rules.horizon_ms};
    path_.seats_.BeatInStore(
        std::move(request), nullptr,
        [self = shared_from_this()](std::vector<Adopted> adopted) {
          self->path_.round_.Put(self->use_, self->asked_ms_, std::move(adopted));
        },
        [self = shared_from_this(), way, places = std::move(places)](
            const db::Result<Heartbeats>& result) { self->TakeStore(way, places, result); });
  }
  void TakeStore(RedisProbe::Path way, const std::vector<std::size_t>& places,
                 const db::Result<Heartbeats>& result) {
    if (result.ok()) {
      answer_.now_ms = std::max(answer_.now_ms, result.value().now_ms);
      for (std::size_t i = 0; i < places.size(); ++i)
        answer_.outcomes[places[i]] = result.value().outcomes[i];
    } else {
      fault_ = result.fault();
      // Those that the Redis keeps are to hear of it, whatever the store does.
      for (const std::size_t i : places) answer_.outcomes[i] = Forgotten{kAskAgainMs};
    }
    if (way == RedisProbe::Path::kAdopted) return AskStore(RedisProbe::Path::kStore);
    Finish();
  }

  void Finish() {
    const bool some_kept = std::ranges::find(ways_, RedisProbe::Path::kRedis) != ways_.end();
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      if (fault_ && !some_kept) break;
      path_.probe_.Beaten(ways_[i], answer_.outcomes[i]);
      if (ways_[i] == RedisProbe::Path::kRedis) path_.seats_.probe().Beaten(answer_.outcomes[i]);
    }
    auto tell = [self = shared_from_this(), some_kept] {
      if (self->fault_ && !some_kept)
        self->done_(*self->fault_);
      else
        self->done_(std::move(self->answer_));
    };
    if (home_)
      home_->Post(std::move(tell));
    else
      tell();
  }

  RedisPath& path_;
  const BeatRequest request_;
  base::Executor* const home_;
  Done done_;
  const UseNow use_;
  std::size_t untold_ = 0;
  std::int64_t asked_ms_ = 0;  // the Redis's time
  std::vector<RedisProbe::Path> ways_;
  std::vector<base::Uuid> extended_;
  Heartbeats answer_{};
  std::optional<base::Fault> fault_;
};

RedisPath::RedisPath(Seats& seats, const client::RedisAddress& address, const Options& options,
                     const base::Clock& clock, telemetry::Registry& metrics)
    : RedisPath(
          seats,
          {std::make_unique<SeatRedis>(address, SeatRedis::Options{options.round.timeout_ms}),
           std::make_unique<SeatRedis>(address, SeatRedis::Options{options.round.timeout_ms})},
          options, clock, metrics) {}

RedisPath::RedisPath(Seats& seats, Connections connections, const Options& options,
                     const base::Clock& clock, telemetry::Registry& metrics)
    : seats_(seats),
      options_(options),
      probe_(metrics),
      use_(clock),
      cache_(options.most_remembered),
      redis_(std::move(connections.beats)),
      round_(seats, std::move(connections.round), options.round, use_, cache_, probe_, clock) {}

void RedisPath::Start() {
  thread_.Start();
  round_.Start();
}

/// What waits goes to the store.
void RedisPath::Stop() {
  {
    const base::Lock lock(mutex_);
    stops_ = true;
  }
  redis_->Cancel();
  thread_.Stop();
  round_.Stop();
}

void RedisPath::Heartbeat(BeatRequest request, base::Caller caller, Done done) {
  if (const auto use = use_.Now()) {
    const auto asking =
        std::make_shared<Asking>(*this, std::move(request), caller.home, std::move(done), *use);
    return asking->Start();
  }
  seats_.BeatInStore(std::move(request), std::move(caller), {},
                     [this, done = std::move(done)](db::Result<Heartbeats> result) mutable {
                       if (result.ok())
                         for (const HeartbeatOutcome& outcome : result.value().outcomes)
                           probe_.Beaten(RedisProbe::Path::kStore, outcome);
                       done(std::move(result));
                     });
}

void RedisPath::Push(std::vector<Waiting> waiting) {
  {
    const base::Lock lock(mutex_);
    if (!stops_) {
      if (waiting_.empty()) thread_.Post([this] { BeatSome(); });
      std::ranges::move(waiting, std::back_inserter(waiting_));
      return;
    }
  }
  for (const Waiting& each : waiting) each.asking->Leave();
}

/// All that wait, a batch at a time: what comes meanwhile goes with the next one.
void RedisPath::BeatSome() {
  while (true) {
    std::vector<Waiting> these;
    {
      const base::Lock lock(mutex_);
      const std::size_t count = std::min(waiting_.size(), options_.round.batch);
      if (count == 0) return;
      const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
      these.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
      waiting_.erase(waiting_.begin(), end);
    }
    BeatThese(these);
  }
}

void RedisPath::BeatThese(const std::vector<Waiting>& these) {
  const auto leave = [&] {
    for (const Waiting& each : these) each.asking->Leave();
  };
  const auto use = use_.Now();
  if (!use) return leave();
  std::vector<SeatRecords::BeatAsked> asked;
  for (const Waiting& each : these) asked.push_back(each.asked);
  std::optional<SeatRecords::Beats> beats;
  const std::int64_t begun = base::MeasureMicros();
  try {
    beats = redis_->Beat(use->under, options_.round.rules.horizon_ms / 2, asked);
    probe_.AskedRedis(base::MeasureMicros() - begun);
  } catch (const RedisAway& error) {
    round_.Lost(error);
    return leave();
  }
  // A process that slept in between, or another Redis, gives no promise.
  if (!beats || !use_.Counts(*use)) {
    round_.Hasten();
    return leave();
  }
  for (std::size_t i = 0; i < these.size(); ++i) {
    Asking& asking = *these[i].asking;
    const SeatRecords::BeatTold& told = beats->told[i];
    const bool is_same = asking.use().IsOf(*use);
    if (told.kind == SeatRecords::BeatTold::Kind::kKept) {
      const std::int64_t now_ms = beats->now_ms - use->offset_ms;
      // It promises nothing longer, unless its clock went back.
      const std::int64_t left_ms = std::min(told.left_ms, use->longest_ms);
      asking.Keep(these[i].place, {now_ms, now_ms + left_ms, false}, told.half_gone && is_same,
                  beats->now_ms);
    } else if (is_same) {
      asking.Adopt(these[i].place, beats->now_ms);
    } else {
      asking.Leave();
    }
  }
}

void RedisPath::GiveOn(const base::Uuid& license, base::UniqueFunction<GivenOn> done) {
  round_.GiveOn(license, std::move(done));
}

void RedisPath::Ask(const base::Uuid& license, std::vector<HoldingPlace> places,
                    base::UniqueFunction<std::vector<KnownThere>> done) {
  round_.Ask(license, std::move(places), std::move(done));
}

void RedisPath::Forget(const std::string& tenant, const std::string& person,
                       const base::Uuid& session, base::UniqueFunction<bool> done) {
  if (!use_.Now()) return done(false);
  seats_.FindHoldingFacts({{session}}, [this, tenant, person, done = std::move(done)](
                                           const db::Result<FactsReply>& reply) mutable {
    const auto* const facts =
        reply.ok() && reply.value().facts.front() ? &*reply.value().facts.front() : nullptr;
    if (!facts || facts->tenant != tenant || facts->person != person) return done(false);
    round_.DropNow(facts->license, facts->slot, facts->fence, std::move(done));
  });
}

void RedisPath::Resumed(const std::string& tenant, const std::string& person,
                        const base::Uuid& session) {
  round_.AdoptNow(tenant, person, session);
}

void RedisPath::Changed(const base::Uuid& license) {
  cache_.Forget(license);
  round_.Changed(license);
}

void RedisPath::Ended(const base::Uuid& license, std::int64_t slot, std::int64_t fence) {
  round_.Drop(license, slot, fence);
}

}  // namespace tenure::seats
