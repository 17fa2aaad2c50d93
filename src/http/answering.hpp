#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/caller.hpp"
#include "base/error.hpp"
#include "http/exchange.hpp"

/// How a route goes on when its capability has decided: as a callback that takes a result, which is
/// a reply or a fault. A fault is answered here, so a route says what its replies mean and no more.
///
///   leases.List(std::move(request), exchange->caller(), Answering(exchange, PageJson));
///   leases.Find(std::move(request), exchange->caller(),
///               Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
///                 if (!reply.lease) return to->Reply(UnknownLease(to));
///                 to->ReplyJson(ViewJson(*reply.lease));
///               }));
namespace tenure::http {

/// Reads the header Idempotency-Key (docs/ground.md, Doing it once); nothing when there is none.
/// Throws a 400 when it is not 1 to 255 visible ASCII characters, or is there twice.
std::optional<base::IdempotencyKey> FindIdempotencyKey(const ExchangePtr& exchange);

/// 422: the key was used for a request with another path or body.
Problem KeyOfAnotherRequest();
/// 409: the first request with this key is under way.
Problem KeyUnderWay();
/// Answers what was made here and is kept for repetitions.
void ReplyMade(const ExchangePtr& exchange, base::StoredAnswer answer);
/// Answers as the first request with this key was answered.
void ReplyStored(const ExchangePtr& exchange, base::StoredAnswer answer);

/// `then` makes the body of a 200 of a reply; or it takes the exchange too, and sees to its answer.
template <class Then, class Reply>
void AnswerWith(Then& then, const ExchangePtr& exchange, Reply reply) {
  if constexpr (std::invocable<Then&, const ExchangePtr&, Reply>)
    then(exchange, std::move(reply));
  else
    exchange->ReplyJson(then(std::move(reply)));
}

template <class Then>
auto Answering(ExchangePtr exchange, Then then) {
  return [exchange = std::move(exchange), then = std::move(then)](auto result) mutable {
    if (!result.ok()) return exchange->Reply(result.fault());
    AnswerWith(then, exchange, std::move(result.value()));
  };
}

/// The same for a request with an idempotency key, whose result is a base::IdempotentReply. `first`
/// answers what was carried out now, as it would be without the key; `again` answers a repetition.
template <class First, class Again>
auto AnsweringOnce(ExchangePtr exchange, First first, Again again) {
  return Answering(std::move(exchange), [first = std::move(first), again = std::move(again)](
                                            const ExchangePtr& to, auto once) mutable {
    if (std::holds_alternative<base::KeyOfAnotherRequest>(once))
      return to->Reply(KeyOfAnotherRequest());
    if (std::holds_alternative<base::KeyUnderWay>(once)) return to->Reply(KeyUnderWay());
    if (auto* const kept = std::get_if<base::StoredAnswer>(&once))
      return again(to, std::move(*kept));
    AnswerWith(first, to, std::get<0>(std::move(once)));
  });
}

/// A repetition is told what the first request was told.
template <class First>
auto AnsweringOnce(ExchangePtr exchange, First first) {
  return AnsweringOnce(std::move(exchange), std::move(first), ReplyStored);
}

/// For a request that waits: `done` has its share of what may be waited for, until it is dropped.
template <class Done>
auto KeepingShare(Waits::Share share, Done done) {
  return [share = std::move(share), done = std::move(done)](auto&& result) mutable {
    done(std::forward<decltype(result)>(result));
  };
}

/// For a request that waits: who has gone gets nothing that nobody would use.
/// REQUIRES: it has a share of what may be waited for (Exchange::BeginWait).
inline void AbandonWhenGone(const ExchangePtr& exchange, base::Task abandon) {
  TENURE_CHECK(exchange->has_share(), "who waits has a share of what may be waited for");
  if (exchange->replied()) return;  // refused at once, as when the store is away
  auto gone = [exchange, abandon = std::move(abandon)]() mutable {
    exchange->Conclude("abandoned");
    abandon();
  };
  exchange->OnClientGone(std::move(gone));
}

/// Whose names a request speaks of: the token's tenant, `default` without one
/// (docs/ground.md, Tenants).
inline std::string TenantOf(const ExchangePtr& exchange) {
  return exchange->request().principal->tenant.value_or("default");
}

/// Who answers for what a request does, as the record of acts has it.
inline base::Actor ActorOf(const ExchangePtr& exchange, std::string act) {
  const Request& request = exchange->request();
  return {.act = std::move(act),
          .tenant = TenantOf(exchange),
          .person = request.principal->person,
          .address = request.client_address,
          .request_id = request.request_id,
          .reason = exchange->reason()};
}

/// `exchange->caller()` for an act that goes on record with what it changes.
inline base::Caller Acting(const ExchangePtr& exchange, std::string act) {
  base::Caller caller = exchange->caller();
  caller.actor = std::make_shared<const base::Actor>(ActorOf(exchange, std::move(act)));
  return caller;
}

}  // namespace tenure::http
