#pragma once

#include <string_view>

#include "db/operation.hpp"
#include "queues/batch.hpp"
#include "queues/events.hpp"
#include "queues/message.hpp"
#include "wake/registry.hpp"

namespace tenure::queues {

/// What holders and operators say of sessions, in order of arrival.
///
/// Two ways to lock (Q1, docs/ground.md, Strangers). What neither raises the fence nor moves the
/// head past what was handed out takes the lock of an UPDATE of no key: it never waits for a user's
/// transaction that called tenure.queue_complete. Everything else takes the row FOR UPDATE and
/// passes over what such a transaction holds; that is answered `kContended`, and asked again.
class ReportHandler final : public ChangingHandler<ReportRequest, ReportReply> {
 public:
  enum class Locking { kShares, kSeizes };
  /// Which of the two a report needs.
  static Locking LockingOf(Report::Kind kind);

  ReportHandler(Locking locking, const EventsPtr& events, Probe* probe, std::string_view process,
                wake::Registry& wake)
      : ChangingHandler(probe, process, wake), locking_(locking), events_(events) {}
  std::string_view name() const override {
    return locking_ == Locking::kShares ? "queues.report" : "queues.seize";
  }
  std::size_t KeyHash(const ReportRequest& request) const override {
    return request.items.empty() ? 0 : std::hash<base::Uuid>()(request.items.front().session);
  }

 protected:
  Effects WriteItems(db::Transaction& tx, Items items) override;

 private:
  const Locking locking_;
  const EventsPtr& events_;
};

}  // namespace tenure::queues
