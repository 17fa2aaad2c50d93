#include "usage/totals.hpp"

#include <algorithm>

namespace tenure::usage {

void Totaller::Run(sessions::Sessions& sessions, const TotalsRequest& request, SpanReply span,
                   base::Executor* home, Done done) {
  auto totaller = std::make_shared<Totaller>();
  totaller->sessions_ = &sessions;
  totaller->page_.user = request.user;
  totaller->page_.tenant = request.tenant;
  totaller->page_.capacity = request.capacity;
  totaller->page_.limit = 1'000;
  totaller->home_ = home;
  totaller->done_ = std::move(done);
  totaller->reply_.span = std::move(span);
  const SpanReply& known = totaller->reply_.span;
  if (!known.from || !known.to) return totaller->done_(std::move(totaller->reply_));
  totaller->reply_.is_complete = known.from->start_ms >= known.removed_ms;
  totaller->NextPage();
}

void Totaller::NextPage() {
  sessions_->List(page_, home_,
                  [self = shared_from_this()](db::Result<sessions::ListReply> result) {
                    if (!result.ok()) return self->done_(result.fault());
                    for (const auto& session : result.value().sessions) self->Add(session);
                    // Sessions come in the order of their starts: what starts after the span has no
                    // part in it.
                    const bool is_past =
                        !result.value().sessions.empty() &&
                        result.value().sessions.back().start_ms >= self->reply_.span.to->end_ms;
                    if (!result.value().has_more || is_past)
                      return self->done_(std::move(self->reply_));
                    self->page_.after = result.value().sessions.back().id;
                    self->NextPage();
                  });
}

void Totaller::Add(const sessions::Session& session) {
  const SpanReply& span = reply_.span;
  const Interval active{session.start_ms, session.end_ms};
  const Interval all{span.from->start_ms, span.to->end_ms};
  if (std::min(active.end_ms, all.end_ms) <= std::max(active.start_ms, all.start_ms)) return;
  ++reply_.sessions;
  reply_.micros += span.factors.MicrosIn(static_cast<int>(session.kind), active, all);
}

}  // namespace tenure::usage
