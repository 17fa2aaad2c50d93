#include "sessions/rules.hpp"

#include <algorithm>

#include "db/rows.hpp"

namespace tenure::sessions {

std::optional<PutReply> AnswerWithoutChange(const PutRequest& request,
                                            const std::optional<Session>& latest,
                                            std::int64_t now_ms) {
  if (!latest || !latest->IsActive(now_ms)) return std::nullopt;
  if (latest->tenant != request.tenant) return PutReply{PutStatus::kForeign, {}, {}, now_ms};
  if (latest->kind >= request.kind) return PutReply{PutStatus::kExisting, *latest, {}, now_ms};
  return std::nullopt;
}

Ledger::Ledger(const std::optional<Session>& latest, std::int64_t now_ms)
    : loaded_(latest), instant_ms_(now_ms) {
  if (!loaded_) return;
  instant_ms_ = std::max(instant_ms_, loaded_->start_ms);
  if (loaded_->end_reason) instant_ms_ = std::max(instant_ms_, loaded_->end_ms);
}

Session* Ledger::Latest() {
  if (!started_.empty()) return &started_.back();
  return loaded_ ? &*loaded_ : nullptr;
}

PutReply Ledger::Put(const PutRequest& request, std::int64_t duration_ms) {
  MarkOverdue();
  const Session* latest = Latest();
  if (latest && latest->IsActive(instant_ms_)) {
    if (auto answer = AnswerWithoutChange(request, *latest, instant_ms_)) return *answer;
    const base::Uuid previous = latest->id;
    EndLatest(EndReason::kUpgraded, instant_ms_);
    return {PutStatus::kUpgraded, Start(request, duration_ms), previous, instant_ms_};
  }
  return {PutStatus::kCreated, Start(request, duration_ms), {}, instant_ms_};
}

void Ledger::End(const base::Uuid& id) {
  MarkOverdue();
  const Session* latest = Latest();
  if (latest && latest->id == id && latest->IsActive(instant_ms_))
    EndLatest(EndReason::kDeleted, instant_ms_);
}

/// A session whose end has passed gets its mark; its end stays what it was.
void Ledger::MarkOverdue() {
  const Session* latest = Latest();
  if (latest && !latest->end_reason && latest->end_ms <= instant_ms_)
    EndLatest(EndReason::kExpired, latest->end_ms);
}

void Ledger::EndLatest(EndReason reason, std::int64_t end_ms) {
  Session* latest = Latest();
  if (!latest || latest->end_reason) db::ThrowBadRow("an ended session never changes again");
  latest->end_ms = std::min(end_ms, latest->end_ms);
  latest->end_reason = reason;
  if (started_.empty()) ended_ = *latest;
}

const Session& Ledger::Start(const PutRequest& request, std::int64_t duration_ms) {
  const Session* latest = Latest();
  if (latest && !latest->end_reason) db::ThrowBadRow("a key has at most one active session");
  Session session;
  session.id = base::Uuid::V7(instant_ms_);
  session.tenant = request.tenant;
  session.key = request.key;
  session.turn = latest ? latest->turn + 1 : 1;
  session.kind = request.kind;
  session.start_ms = instant_ms_;
  session.end_ms = instant_ms_ + duration_ms;
  return started_.emplace_back(session);
}

}  // namespace tenure::sessions
