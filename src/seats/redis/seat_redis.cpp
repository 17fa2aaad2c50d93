#include "seats/redis/seat_redis.hpp"

#include <sys/eventfd.h>

#include <charconv>

#include <fmt/format.h>

#include "client/redis/scripts.hpp"
#include "seats_redis_lua/scripts.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::seats {
namespace {

using client::RedisCommand;
using client::RedisReply;
using client::RedisScript;

const RedisScript& Script(std::string_view name) {
  static const RedisScript greet =
      client::MakeScript("greet", {seats_redis::lua::kCommon, seats_redis::lua::kGreet});
  static const RedisScript beat =
      client::MakeScript("beat", {seats_redis::lua::kCommon, seats_redis::lua::kBeat});
  static const RedisScript put =
      client::MakeScript("put", {seats_redis::lua::kCommon, seats_redis::lua::kPut});
  static const RedisScript look =
      client::MakeScript("look", {seats_redis::lua::kCommon, seats_redis::lua::kLook});
  static const RedisScript drop =
      client::MakeScript("drop", {seats_redis::lua::kCommon, seats_redis::lua::kDrop});
  for (const RedisScript* script : {&greet, &beat, &put, &look})
    if (script->operation == name) return *script;
  return drop;
}

[[noreturn]] void ThrowStrange() {
  throw RedisAway("the Redis answers what no script of ours says");
}

/// A number of a reply, as such or as text.
std::int64_t NumberOf(const RedisReply& reply) {
  if (reply.kind == RedisReply::Kind::kInteger) return reply.integer;
  std::int64_t number = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto [stopped, error] = std::from_chars(reply.text.data(), end, number);
  if (error != std::errc{} || stopped != end) ThrowStrange();
  return number;
}

/// Whether it answers for the Redis that was meant, with `each` values for each of `count`.
bool IsMeant(const RedisReply& reply, std::size_t count, std::size_t each) {
  if (reply.items.size() < 2) ThrowStrange();
  if (reply.items[0].text == "other") return false;
  if (reply.items[0].text != "ok" || reply.items.size() != 2 + count * each) ThrowStrange();
  return true;
}

}  // namespace

SeatRedis::SeatRedis(client::RedisAddress address, const Options& options)
    : address_(std::move(address)),
      place_(fmt::format(".{}.{}", address_.db, address_.prefix)),
      options_(options),
      tls_(client::WireTls::For(address_)),
      cancel_(leases::CheckedCall(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

SeatRedis::~SeatRedis() = default;

void SeatRedis::Cancel() {
  cancelled_ = true;
  ::eventfd_write(cancel_.get(), 1);
}

RedisReply SeatRedis::Run(const RedisScript& script, std::vector<std::string> arguments) {
  if (cancelled_) throw RedisAway("the calls to the Redis were cancelled");
  const std::int64_t until_ms = BootClock().NowMs() + options_.timeout_ms;
  const auto command = [&](std::string_view verb, std::string_view what) {
    RedisCommand made{verb, what, "0", address_.prefix};
    made.insert(made.end(), arguments.begin(), arguments.end());
    return made;
  };
  try {
    if (link_ && link_->IsStale()) link_.reset();
    if (!link_)
      link_ = std::make_unique<client::RedisLink>(address_, tls_.get(), cancel_.get(), until_ms);
    RedisReply reply = link_->Ask(command("EVALSHA", script.sha), until_ms);
    if (reply.code() == "NOSCRIPT") reply = link_->Ask(command("EVAL", script.text), until_ms);
    if (reply.is_error()) client::ThrowRedisError(reply, true);
    return reply;
  } catch (const client::WireError& error) {
    link_.reset();
    throw RedisAway(fmt::format("the Redis: {}", error.what()));
  } catch (const leases::LeaseError& error) {
    link_.reset();  // it may have become a replica: the next one looks
    throw RedisAway(error.what());
  }
}

SeatRedis::Greeting SeatRedis::Greet() {
  const RedisReply reply = Run(Script("greet"), {"", "0"});
  if (reply.items.size() != 3 || reply.items[1].text.empty()) ThrowStrange();
  return {reply.items[1].text + place_, NumberOf(reply.items[2])};
}

std::optional<std::vector<std::string>> SeatRedis::ArgumentsFor(const Under& under) const {
  if (!under.identity.ends_with(place_)) return std::nullopt;
  return std::vector<std::string>{under.identity.substr(0, under.identity.size() - place_.size()),
                                  std::to_string(under.epoch)};
}

std::optional<SeatRedis::Beats> SeatRedis::Beat(const Under& under, std::int64_t half_horizon_ms,
                                                std::span<const BeatAsked> asked) {
  auto arguments = ArgumentsFor(under);
  if (!arguments) return std::nullopt;
  arguments->push_back(std::to_string(half_horizon_ms));
  for (const BeatAsked& each : asked)
    arguments->insert(arguments->end(),
                      {each.seat, std::to_string(each.fence), std::to_string(each.ttl_ms)});
  const RedisReply reply = Run(Script("beat"), *std::move(arguments));
  if (!IsMeant(reply, asked.size(), 2)) return std::nullopt;
  Beats beats{NumberOf(reply.items[1]), {}};
  for (std::size_t i = 2; i < reply.items.size(); i += 2) {
    const std::int64_t left_ms = NumberOf(reply.items[i]);
    using Kind = BeatTold::Kind;
    beats.told.push_back({left_ms > 0     ? Kind::kKept
                          : left_ms == -2 ? Kind::kLate
                                          : Kind::kUnknown,
                          left_ms, NumberOf(reply.items[i + 1]) == 1});
  }
  return beats;
}

std::optional<std::vector<bool>> SeatRedis::Put(const Under& under, std::int64_t not_after_ms,
                                                std::span<const PutAsked> asked) {
  auto arguments = ArgumentsFor(under);
  if (!arguments) return std::nullopt;
  arguments->push_back(std::to_string(not_after_ms));
  for (const PutAsked& each : asked)
    arguments->insert(arguments->end(),
                      {each.seat, std::to_string(each.fence), std::to_string(each.ttl_ms),
                       std::to_string(each.horizon_ms)});
  const RedisReply reply = Run(Script("put"), *std::move(arguments));
  std::vector<bool> there(asked.size(), false);
  if (reply.items.size() == 2 && reply.items[0].text == "late") return there;
  if (!IsMeant(reply, asked.size(), 1)) return std::nullopt;
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = NumberOf(reply.items[2 + i]) == 1;
  return there;
}

std::optional<SeatRedis::Sight> SeatRedis::Look(const Under& under, std::int64_t margin_ms,
                                                std::span<const std::string> seats) {
  auto arguments = ArgumentsFor(under);
  if (!arguments) return std::nullopt;
  arguments->push_back(std::to_string(margin_ms));
  arguments->insert(arguments->end(), seats.begin(), seats.end());
  const RedisReply reply = Run(Script("look"), *std::move(arguments));
  if (!IsMeant(reply, seats.size(), 4)) return std::nullopt;
  Sight sight{NumberOf(reply.items[1]), {}};
  for (std::size_t i = 2; i < reply.items.size(); i += 4) {
    const std::int64_t dead_in_ms = NumberOf(reply.items[i]);
    sight.seats.push_back({dead_in_ms >= 0, dead_in_ms, NumberOf(reply.items[i + 1]),
                           NumberOf(reply.items[i + 2]), NumberOf(reply.items[i + 3])});
  }
  return sight;
}

bool SeatRedis::Drop(const Under& under, std::span<const Over> over) {
  auto arguments = ArgumentsFor(under);
  if (!arguments) return false;
  for (const Over& each : over)
    arguments->insert(arguments->end(), {each.seat, std::to_string(each.fence)});
  const RedisReply reply = Run(Script("drop"), *std::move(arguments));
  return IsMeant(reply, 1, 1);
}

}  // namespace tenure::seats
