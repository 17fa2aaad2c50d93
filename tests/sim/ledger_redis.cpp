#include "sim/ledger_redis.hpp"

#include <algorithm>
#include <memory>

namespace tenure::sim {

using R = seats::SeatRecords;

R::Greeting LedgerRedis::Greet(std::int64_t now_ms) const {
  return {planted_ == LedgerBug::kSameEpoch ? "the same" : identity, now_ms};
}

const LedgerRedis::Record* LedgerRedis::Find(const std::string& seat) const {
  const auto found = records.find(seat);
  return found == records.end() ? nullptr : &found->second;
}

std::optional<R::Beats> LedgerRedis::Beat(std::int64_t now_ms, const R::Under& under,
                                          std::int64_t half_ms,
                                          std::span<const R::BeatAsked> asked) {
  using Kind = R::BeatTold::Kind;
  if (!IsMeant(under)) return std::nullopt;
  R::Beats beats{now_ms, {}};
  for (const R::BeatAsked& each : asked) {
    const auto found = records.find(each.seat);
    const bool is_known = found != records.end() && found->second.fence == each.fence &&
                          (found->second.epoch == under.epoch || planted_ == LedgerBug::kOldRecord);
    if (!is_known) {
      beats.told.push_back({Kind::kUnknown, 0, false});
      continue;
    }
    Record& record = found->second;
    if (record.soft_ms <= now_ms && planted_ != LedgerBug::kRedisRevives) {
      beats.told.push_back({Kind::kLate, 0, false});
      continue;
    }
    const std::int64_t end_ms = now_ms + each.ttl_ms;
    record.soft_ms =
        std::max(record.soft_ms,
                 planted_ == LedgerBug::kNoHorizon ? end_ms : std::min(end_ms, record.horizon_ms));
    ++kept;
    const std::int64_t left_ms = record.soft_ms - now_ms;
    beats.told.push_back(
        {left_ms > 0 ? Kind::kKept : Kind::kUnknown, left_ms,
         record.horizon_ms - now_ms < half_ms && planted_ != LedgerBug::kNoHorizon});
  }
  return beats;
}

std::optional<std::vector<bool>> LedgerRedis::Put(std::int64_t now_ms, const R::Under& under,
                                                  std::int64_t not_after_ms,
                                                  std::span<const R::PutAsked> asked) {
  if (!IsMeant(under)) return std::nullopt;
  std::vector<bool> there(asked.size(), false);
  if (now_ms > not_after_ms && planted_ != LedgerBug::kLatePut) return there;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const R::PutAsked& each = asked[i];
    const Record* const before = Find(each.seat);
    if (before && (before->epoch > under.epoch ||
                   (before->epoch == under.epoch && before->fence > each.fence)))
      continue;
    Record record{each.fence, under.epoch, std::min(now_ms + each.ttl_ms, each.horizon_ms),
                  each.horizon_ms};
    if (before && before->epoch == under.epoch) {
      record.soft_ms = std::max(record.soft_ms, before->soft_ms);
      record.horizon_ms = std::max(record.horizon_ms, before->horizon_ms);
    }
    records[each.seat] = record;
    there[i] = true;
  }
  return there;
}

std::optional<R::Sight> LedgerRedis::Look(std::int64_t now_ms, const R::Under& under,
                                          std::int64_t margin_ms,
                                          std::span<const std::string> seats) {
  if (!IsMeant(under)) return std::nullopt;
  R::Sight sight{now_ms, {}};
  for (const std::string& seat : seats) {
    const Record* const record = Find(seat);
    if (!record || record->epoch != under.epoch) {
      sight.seats.push_back({planted_ == LedgerBug::kAbsentIsDead, 0, now_ms, 0});
      continue;
    }
    const std::int64_t dead_in_ms = std::max<std::int64_t>(0, record->soft_ms + margin_ms - now_ms);
    if (dead_in_ms == 0) ++testified;
    sight.seats.push_back({true, dead_in_ms, record->soft_ms, record->fence});
  }
  return sight;
}

bool LedgerRedis::Drop(const R::Under& under, std::span<const R::Over> over) {
  if (!IsMeant(under)) return false;
  for (const R::Over& each : over)
    if (const Record* const record = Find(each.seat); record && record->fence <= each.fence)
      records.erase(each.seat);
  return true;
}

// A link

namespace {

/// What was asked is carried out by whoever has it, also when nobody listens any more.
template <class Answer>
Answer AskOver(const LedgerLink::Network& network, LedgerLink::Kind kind,
               std::function<Answer(LedgerRedis&, std::int64_t)> ask) {
  const auto answer = std::make_shared<std::optional<Answer>>();
  network(kind, [answer, ask = std::move(ask)](LedgerRedis& redis, std::int64_t now_ms) {
    *answer = ask(redis, now_ms);
  });
  return std::move(**answer);
}

template <class Each>
std::vector<Each> Own(std::span<const Each> all) {
  return {all.begin(), all.end()};
}

}  // namespace

R::Greeting LedgerLink::Greet() {
  return AskOver<Greeting>(network_, Kind::kOther, [](LedgerRedis& redis, std::int64_t now_ms) {
    return redis.Greet(now_ms);
  });
}

std::optional<R::Beats> LedgerLink::Beat(const Under& under, std::int64_t half_horizon_ms,
                                         std::span<const BeatAsked> asked) {
  return AskOver<std::optional<Beats>>(
      network_, Kind::kBeat,
      [under, half_horizon_ms, asked = Own(asked)](LedgerRedis& redis, std::int64_t now_ms) {
        return redis.Beat(now_ms, under, half_horizon_ms, asked);
      });
}

std::optional<std::vector<bool>> LedgerLink::Put(const Under& under, std::int64_t not_after_ms,
                                                 std::span<const PutAsked> asked) {
  return AskOver<std::optional<std::vector<bool>>>(
      network_, Kind::kPut,
      [under, not_after_ms, asked = Own(asked)](LedgerRedis& redis, std::int64_t now_ms) {
        return redis.Put(now_ms, under, not_after_ms, asked);
      });
}

std::optional<R::Sight> LedgerLink::Look(const Under& under, std::int64_t margin_ms,
                                         std::span<const std::string> seats) {
  return AskOver<std::optional<Sight>>(
      network_, Kind::kOther,
      [under, margin_ms, seats = Own(seats)](LedgerRedis& redis, std::int64_t now_ms) {
        return redis.Look(now_ms, under, margin_ms, seats);
      });
}

bool LedgerLink::Drop(const Under& under, std::span<const Over> over) {
  return AskOver<bool>(network_, Kind::kOther,
                       [under, over = Own(over)](LedgerRedis& redis, std::int64_t) {
                         return redis.Drop(under, over);
                       });
}

}  // namespace tenure::sim
