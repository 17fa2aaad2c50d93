#include "usage/usage.hpp"

#include "db/submit.hpp"

namespace tenure::usage {
using db::SubmitTo;

namespace {

/// All that changes windows goes to one lane: it never waits for itself.
constexpr std::size_t kWindows = 0;

}  // namespace

Usage::Usage(db::Store& store, sessions::Sessions& sessions, messages::Messages& messages,
             wake::Registry& wake, const Options& options, telemetry::Registry& metrics)
    : store_(store),
      sessions_(sessions),
      options_(options),
      probe_(metrics),
      emit_(messages.directory(), messages.process(), wake),
      change_(messages.directory(), messages.process(), wake) {}

void Usage::SealNext(Callback<SealReply> done) {
  SubmitTo(store_.KeyLane(), seal_, nullptr, kWindows,
           SealRequest{options_.interval_ms, options_.send, options_.factors},
           [this, done = std::move(done)](db::Result<SealReply> result) mutable {
             if (result.ok() && result.value().sealed)
               probe_.Sealed(result.value().sealed->sealed_ms - result.value().sealed->end_ms);
             done(std::move(result));
           });
}

void Usage::FindRanges(Callback<RangesReply> done) {
  SubmitTo(store_.ReadLane(), ranges_, nullptr, kWindows,
           RangesRequest{options_.chunk_size, options_.chunks_per_step}, std::move(done));
}

void Usage::Emit(EmitRequest request, Callback<EmitReply> done) {
  SubmitTo(store_.WriteLane(kWindows), emit_, nullptr, kWindows, std::move(request),
           std::move(done));
}

void Usage::Settle(Callback<SettleReply> done) {
  SubmitTo(store_.WriteLane(kWindows), settle_, nullptr, kWindows,
           SettleRequest{options_.retention_ms}, std::move(done));
}

void Usage::Load(ChunkName name, Callback<LoadReply> done) {
  SubmitTo(store_.ReadLane(), load_, nullptr, 0, LoadRequest{std::move(name)}, std::move(done));
}

void Usage::Change(ChunkChange change, Callback<ChunkChangeReply> done) {
  const std::size_t hash = std::hash<std::string>()(ToText(change.name));
  SubmitTo(store_.WriteLane(kWindows), change_, nullptr, hash, std::move(change), std::move(done));
}

void Usage::ListWindows(const WindowsRequest& request, base::Executor* home,
                        Callback<WindowsReply> done) {
  SubmitTo(store_.ReadLane(), windows_, home, 0, request, std::move(done));
}

void Usage::ListRecords(const RecordsRequest& request, base::Executor* home,
                        Callback<RecordsReply> done) {
  SubmitTo(store_.ReadLane(), records_, home, 0, request, std::move(done));
}

void Usage::ListRefused(const RefusedRequest& request, base::Executor* home,
                        Callback<RefusedReply> done) {
  SubmitTo(store_.ReadLane(), refused_, home, 0, request, std::move(done));
}

void Usage::ListFactors(base::Executor* home, Callback<FactorsReply> done) {
  SubmitTo(store_.ReadLane(), factors_, home, 0, FactorsRequest{}, std::move(done));
}

void Usage::Total(const TotalsRequest& request, base::Executor* home, Callback<TotalsReply> done) {
  SubmitTo(store_.ReadLane(), span_, home, 0, request.span,
           [this, request, home, done = std::move(done)](db::Result<SpanReply> result) mutable {
             if (!result.ok()) return done(result.fault());
             Totaller::Run(sessions_, request, std::move(result.value()), home,
                           [this, home, done = std::move(done)](auto total) mutable {
                             CheckComplete(std::move(total), home, std::move(done));
                           });
           });
}

void Usage::CheckComplete(db::Result<TotalsReply> total, base::Executor* home,
                          Callback<TotalsReply> done) {
  if (!total.ok() || !total.value().span.from) return done(std::move(total));
  SubmitTo(store_.ReadLane(), span_, home, 0, SpanRequest{},
           [total = std::move(total), done = std::move(done)](db::Result<SpanReply> now) mutable {
             if (!now.ok()) return done(now.fault());
             TotalsReply& reply = total.value();
             reply.is_complete = reply.span.from->start_ms >= now.value().removed_ms;
             done(std::move(total));
           });
}

void Usage::CountUnsent(Callback<UnsentReply> done) {
  SubmitTo(store_.ReadLane(), unsent_, nullptr, 0, UnsentRequest{}, std::move(done));
}

void Usage::SetFactor(int kind, std::int64_t millionths, const base::Caller& caller,
                      Callback<SetFactorReply> done) {
  SubmitTo(store_.KeyLane(), set_factor_, caller, kWindows,
           SetFactorRequest{kind, millionths, options_.interval_ms, options_.factors},
           std::move(done));
}

void Usage::Send(const SendRequest& request, const base::Caller& caller, Callback<SendReply> done) {
  SubmitTo(store_.WriteLane(kWindows), send_, caller, kWindows, request, std::move(done));
}

}  // namespace tenure::usage
