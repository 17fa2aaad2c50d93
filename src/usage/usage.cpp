#include "usage/usage.hpp"

#include <algorithm>
#include <memory>

namespace tenure::usage {
namespace {

/// Adds up what sessions used in a span of windows, a page of sessions at a time. For each session
/// one subtraction is enough: the windows between telescope.
class Totaller : public std::enable_shared_from_this<Totaller> {
 public:
  using Done = base::UniqueFunction<db::Result<TotalsReply>>;
  static void Run(sessions::Sessions& sessions, const TotalsRequest& request, SpanReply span,
                  base::Executor* home, Done done);

 private:
  void NextPage();
  void Add(const sessions::Session& session);

  sessions::Sessions* sessions_ = nullptr;
  sessions::ListRequest page_{};
  base::Executor* home_ = nullptr;
  TotalsReply reply_{};
  Done done_{};
};

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
  if (!known.from || !known.to || request.of_nobody)
    return totaller->done_(std::move(totaller->reply_));
  totaller->NextPage();
}

void Totaller::NextPage() {
  sessions_->List(
      page_, home_, [self = shared_from_this()](db::Result<sessions::ListReply> result) {
        if (!result.ok()) return self->done_(result.fault());
        for (const auto& session : result.value().rows) self->Add(session);
        // Sessions come in the order of their starts: what starts after the span has no
        // part in it.
        const bool is_past = !result.value().rows.empty() &&
                             result.value().rows.back().start_ms >= self->reply_.span.to->end_ms;
        if (!result.value().has_more || is_past) return self->done_(std::move(self->reply_));
        self->page_.after = result.value().rows.back().id;
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

}  // namespace

void Usage::SealNext(Callback<SealReply> done) {
  seal_({options_.interval_ms, options_.send, options_.factors},
        [this, done = std::move(done)](db::Result<SealReply> result) mutable {
          if (result.ok() && result.value().sealed)
            probe_.Sealed(result.value().sealed->sealed_ms - result.value().sealed->end_ms);
          done(std::move(result));
        });
}

void Usage::Total(const TotalsRequest& request, base::Executor* home, Callback<TotalsReply> done) {
  span_(request.span, home,
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
  span_({}, home,
        [total = std::move(total), done = std::move(done)](db::Result<SpanReply> now) mutable {
          if (!now.ok()) return done(now.fault());
          TotalsReply& reply = total.value();
          reply.is_complete = reply.span.from->start_ms >= now.value().removed_ms;
          done(std::move(total));
        });
}

}  // namespace tenure::usage
