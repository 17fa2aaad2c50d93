#include "client/redis/read.hpp"

#include <charconv>

#include <fmt/format.h>

#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

using leases::Grant;
using leases::LossReason;
using leases::Milliseconds;

[[noreturn]] void RefuseReply(std::string_view what) {
  throw leases::ProviderUnavailable(
      fmt::format("the Redis answered what no script of ours says: {}", what),
      {.outcome_unknown = true});
}

const std::vector<RedisReply>& ItemsOf(const RedisReply& reply, std::size_t least) {
  if (reply.kind != RedisReply::Kind::kArray || reply.items.size() < least)
    RefuseReply("too little");
  return reply.items;
}

std::int64_t WholeOf(const RedisReply& reply) {
  std::int64_t value = 0;
  const char* const end = reply.text.data() + reply.text.size();
  const auto [stopped, error] = std::from_chars(reply.text.data(), end, value);
  if (reply.text.empty() || error != std::errc{} || stopped != end) RefuseReply("no number");
  return value;
}

LossReason ReasonOf(const RedisReply& reply) {
  return leases::ParseLossReason(reply.text).value_or(LossReason::kUnknown);
}

Grant GrantFrom(const RedisReply& reply, const GrantContext& asked) {
  const auto& items = ItemsOf(reply, 8);
  Grant grant;
  grant.name = asked.name;
  grant.term = asked.term;
  grant.waited = asked.waited;
  grant.fence = WholeOf(items[1]);
  grant.holder = items[2].text;
  grant.metadata = items[3].text;
  grant.ttl = Milliseconds(WholeOf(items[4]));
  grant.granted_at_ms = WholeOf(items[5]);
  grant.expires_at_ms = WholeOf(items[6]);
  grant.now_ms = WholeOf(items[7]);
  grant.remaining = Milliseconds(grant.expires_at_ms - grant.now_ms);
  return grant;
}

leases::LeaseView ViewFrom(const RedisReply& reply) {
  const auto& items = ItemsOf(reply, 14);
  leases::LeaseView view;
  view.name = items[0].text;
  view.state = items[1].text == "held"     ? leases::LeaseState::kHeld
               : items[1].text == "broken" ? leases::LeaseState::kBroken
                                           : leases::LeaseState::kFree;
  view.fence = WholeOf(items[2]);
  view.term = items[3].text;
  view.holder = items[4].text;
  view.metadata = items[5].text;
  view.ttl = Milliseconds(WholeOf(items[6]));
  view.granted_at_ms = WholeOf(items[7]);
  view.renewed_at_ms = WholeOf(items[8]);
  view.expires_at_ms = WholeOf(items[9]);
  view.break_reason = items[10].text;
  view.waiters = WholeOf(items[11]);
  view.frozen_until_ms = WholeOf(items[12]);
  view.now_ms = WholeOf(items[13]);
  return view;
}

leases::PastGrant PastFrom(const RedisReply& reply) {
  const auto& items = ItemsOf(reply, 7);
  return {.fence = WholeOf(items[0]),
          .term = items[1].text,
          .holder = items[2].text,
          .granted_at_ms = WholeOf(items[3]),
          .ended_at_ms = WholeOf(items[4]),
          .reason = ReasonOf(items[5]),
          .detail = items[6].text};
}

}  // namespace

leases::AcquireOutcome ReadAcquired(const RedisReply& reply, const GrantContext& asked) {
  const auto& items = ItemsOf(reply, 2);
  if (items[0].text == "granted") return GrantFrom(reply, asked);
  if (items[0].text == "ended") return leases::TermEnded{ReasonOf(items[1])};
  if (items[0].text != "held") RefuseReply("no outcome of an acquire");
  ItemsOf(reply, 7);
  return leases::HeldByAnother{
      .reason = leases::ParseHeldReason(items[1].text).value_or(leases::HeldReason::kHeld),
      .holder = items[2].text,
      .fence = WholeOf(items[3]),
      .expires_at_ms = WholeOf(items[4]),
      .retry_after = Milliseconds(WholeOf(items[5]))};
}

leases::RenewOutcome ReadRenewed(const RedisReply& reply, const GrantContext& asked) {
  const auto& items = ItemsOf(reply, 2);
  if (items[0].text == "granted") return GrantFrom(reply, asked);
  if (items[0].text != "lost") RefuseReply("no outcome of a renewal");
  return leases::Loss{ReasonOf(items[1])};
}

leases::ReleaseOutcome ReadReleased(const RedisReply& reply) {
  const auto& items = ItemsOf(reply, 1);
  if (items[0].text == "released") return {.released = true};
  return {.released = false, .reason = ReasonOf(ItemsOf(reply, 2)[1])};
}

std::optional<leases::BreakOutcome> ReadBroken(const RedisReply& reply) {
  const auto& items = ItemsOf(reply, 1);
  if (items[0].text == "unknown") return std::nullopt;
  ItemsOf(reply, 4);
  leases::BreakOutcome outcome;
  outcome.broken = items[0].text == "broken";
  outcome.holder = items[1].text;
  outcome.fence = WholeOf(items[2]);
  outcome.free_at_ms = WholeOf(items[3]);
  return outcome;
}

std::optional<leases::LeaseView> ReadLease(const RedisReply& reply) {
  if (reply.kind == RedisReply::Kind::kArray && reply.items.empty()) return std::nullopt;
  const auto& items = ItemsOf(reply, 2);
  leases::LeaseView view = ViewFrom(items[0]);
  for (const RedisReply& past : items[1].items) view.history.push_back(PastFrom(past));
  return view;
}

LeasePage ReadLeases(const RedisReply& reply) {
  const auto& items = ItemsOf(reply, 2);
  LeasePage page{.next = items[0].text, .views = {}};
  for (const RedisReply& view : items[1].items) page.views.push_back(ViewFrom(view));
  return page;
}

}  // namespace tenure::client
