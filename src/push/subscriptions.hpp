#pragma once

#include "db/idempotency.hpp"
#include "db/method.hpp"
#include "push/change.hpp"
#include "push/reads.hpp"

namespace tenure::push {

/// Subscriptions on a store: what routes, whoever delivers and tests call.
class Subscriptions {
  db::Store& store_;

 public:
  Subscriptions(db::Store& store, wake::Registry& wake, const Vault* vault)
      : store_(store), Change(store, vault, wake) {}

  db::Method<ChangeHandler> Change;
  /// The same under an idempotency key; what is shown once is not shown again.
  db::Method<db::IdempotentHandler<Command, Outcome>> RotateOnce{
      store_, "push.rotate_once", Change.handler(), RotateAnswer, db::LaneName::UserKeys()};
  db::Look<FindSubscriptions> Find{store_, "push.find"};
  /// For who does something elsewhere with what it finds: only while the caller's fences are live.
  db::Write<FindSubscriptions> FindFenced{store_, "push.find_fenced", db::LaneName::Shared(1)};
  db::List<QueueSubscriptions, ReadSubscription> List{store_, "push.list"};

  db::List<QueueSealed, ReadSealed> ListSealed{store_, "push.sealed"};

  // For whoever delivers.
  db::Count<push::LookAround> LookAround{store_, "push.look_around"};
  db::Count<CountSubscriptions> Count{store_, "push.counts"};
  db::Write<ReportDeliveries> ReportSome{store_, "push.report", db::LaneName::Shared(1)};
};

}  // namespace tenure::push
