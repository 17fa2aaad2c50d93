#include "messages/settle/settler.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tenure::messages {
namespace {

/// The fault of the second transaction, as one of both.
base::Fault FaultAfter(const SettleResult& first, const base::Fault& fault) {
  return ChangedSomething(first) ? FaultAfterChange(fault) : fault;
}

/// Puts what was found out the second time into the places that were left open.
void Complete(SettleResult& first, SettleResult second) {
  auto next = second.reply.outcomes.begin();
  for (SettleOutcome& outcome : first.reply.outcomes)
    if (outcome == SettleOutcome::kPassedOver) outcome = *next++;
  std::ranges::move(second.finished, std::back_inserter(first.finished));
  first.now_ms = second.now_ms;
}

}  // namespace

bool ChangedSomething(const SettleResult& result) {
  return std::ranges::find(result.reply.outcomes, SettleOutcome::kDone) !=
         result.reply.outcomes.end();
}

base::Fault FaultAfterChange(const base::Fault& fault) {
  return {base::FaultKind::kOutcomeUnknown,
          std::string("some of the messages are done; of the others: ") + fault.what()};
}

Settler::Settler(db::Store& store, TopicCache& topic_cache, std::string_view process,
                 wake::Registry& wake, const FollowerSlot& followers, Probe& probe)
    : store_(store),
      ack_("messages.ack", Locked::kPassOver, {process, wake, followers}, topic_cache, probe,
           store.evidence()),
      ack_locked_("messages.ack_locked", Locked::kAwait, {process, wake, followers}, topic_cache,
                  probe, store.evidence()),
      settle_("messages.report", Locked::kPassOver, process, wake, followers, probe,
              store.evidence()),
      settle_locked_("messages.report_locked", Locked::kAwait, process, wake, followers, probe,
                     store.evidence()) {}

void Settler::Submit(SettleRequest request, base::Caller caller, Callback done) {
  auto then = [this, caller, done = std::move(done)](db::Result<SettleResult> result) mutable {
    if (!result.ok() || result.value().passed_over.settlements.empty())
      return done(std::move(result));
    AskAgain(std::move(result.value()), std::move(caller), std::move(done));
  };
  SubmitOnce(Locked::kPassOver, std::move(request), std::move(caller), std::move(then));
}

void Settler::AskAgain(SettleResult first, base::Caller caller, Callback done) {
  SettleRequest again = std::exchange(first.passed_over, {});
  auto then = [first = std::move(first),
               done = std::move(done)](db::Result<SettleResult> second) mutable {
    if (!second.ok()) return done(FaultAfter(first, second.fault()));
    Complete(first, std::move(second.value()));
    done(std::move(first));
  };
  SubmitOnce(Locked::kAwait, std::move(again), std::move(caller), std::move(then));
}

void Settler::SubmitOnce(Locked locked, SettleRequest request, base::Caller caller, Callback done) {
  const bool waits = locked == Locked::kAwait;
  if (request.disposition == Disposition::kDone)
    store_.Submit(waits ? ack_locked_ : ack_, std::move(caller), std::move(request),
                  std::move(done));
  else
    store_.Submit(waits ? settle_locked_ : settle_, std::move(caller), std::move(request),
                  std::move(done));
}

}  // namespace tenure::messages
