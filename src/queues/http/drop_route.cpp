// A queue whose bot was removed goes now, with what is left in it.
#include <memory>
#include <utility>

#include "base/json_writer.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "queues/http/problems.hpp"
#include "queues/http/routes.hpp"

namespace tenure::queues {
namespace {

using http::Answering;
using http::ExchangePtr;

/// One call clears so many sessions, a part in each transaction.
constexpr std::int64_t kSessionsOfAPart = 500;
constexpr int kParts = 20;

/// Each step begins when the one before is committed. A call that breaks off has cleared a part; the next one
/// goes on with what is there.
class Dropping : public std::enable_shared_from_this<Dropping> {
 public:
  Dropping(const RouteParts& parts, ExchangePtr exchange)
      : parts_(parts),
        exchange_(std::move(exchange)),
        tenant_(http::TenantOf(exchange_)),
        queue_(QueueOf(exchange_)) {}

  void Begin() {
    parts_.queues.List(
        {.tenant = tenant_, .name = queue_, .limit = 1}, exchange_->caller(),
        Answering(exchange_, [self = shared_from_this()](const ExchangePtr& to,
                                                         const db::Page<QueueView>& page) {
          if (page.rows.empty()) return to->Reply(UnknownQueue(to));
          const QueueRow& row = page.rows.front().queue;
          if (row.state == QueueState::kActive) return to->Reply(ActiveQueue(to));
          self->Drain();
        }));
  }

 private:
  /// What users' transactions sent before the bot was removed is left, too.
  void Drain() {
    parts_.queues.Drain(
        {tenant_, queue_}, exchange_->caller(),
        Answering(exchange_, [self = shared_from_this()](const ExchangePtr&, const DrainReply&) {
          self->Find();
        }));
  }
  void Find() {
    parts_.queues.FindLeft({tenant_, queue_, kSessionsOfAPart}, exchange_->caller(),
                           Answering(exchange_, [self = shared_from_this()](const ExchangePtr&,
                                                                            const LeftReply& left) {
                             if (left.sessions.empty()) return self->Sweep();
                             if (self->cleared_ == kParts) return self->Reply();
                             ++self->cleared_;
                             self->Clear(left);
                           }));
  }
  void Clear(const LeftReply& left) {
    ReportRequest request{tenant_, queue_, {}};
    for (const base::Uuid& session : left.sessions)
      request.items.push_back(
          {.kind = Report::Kind::kClear, .session = session, .error = exchange_->reason()});
    parts_.queues.Report(
        std::move(request), http::Acting(exchange_, "queue.drop"),
        Answering(exchange_, [self = shared_from_this()](const ExchangePtr& to,
                                                         const ReportReply& reply) {
          for (const ReportOutcome& each : reply.outcomes) {
            if (each.kind == ReportOutcome::Kind::kContended)
              return to->Reply(base::Fault(base::FaultKind::kContended,
                                           "a transaction that completes a message of this "
                                           "queue is under way"));
            if (each.kind == ReportOutcome::Kind::kDone) ++self->sessions_;
          }
          self->Find();
        }));
  }
  void Sweep() {
    parts_.queues.DropSome(
        {}, exchange_->caller(),
        Answering(exchange_, [self = shared_from_this()](const ExchangePtr& to, const db::Swept&) {
          self->parts_.queues.List(
              {.tenant = self->tenant_, .name = self->queue_, .limit = 1}, to->caller(),
              Answering(to, [self](const ExchangePtr&, const db::Page<QueueView>& page) {
                self->is_dropped_ = page.rows.empty();
                self->Reply();
              }));
        }));
  }
  void Reply() {
    std::string body;
    base::JsonWriter(body)
        .BeginObject()
        .Field("queue", std::string_view(queue_))
        .Field("state", ToText(is_dropped_ ? QueueState::kDropped : QueueState::kDraining))
        .Field("sessions", sessions_)
        .EndObject();
    exchange_->ReplyJson(std::move(body));
  }

  const RouteParts parts_;
  const ExchangePtr exchange_;
  const std::string tenant_;
  const std::string queue_;
  int cleared_ = 0;
  std::int64_t sessions_ = 0;
  bool is_dropped_ = false;
};

void DropQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectQueryReasonAlone(exchange);
  std::make_shared<Dropping>(parts, exchange)->Begin();
}

}  // namespace

void AddDropRoute(http::Router& router, const RouteParts& parts) {
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/queues", .rate_class = "queues"})
      .Add({{http::Method::kDelete,
             "/{queue}",
             "dropQueue",
             "queues:operate",
             DropQueue,
             "",
             {"queue.drop"}}});
}

}  // namespace tenure::queues
