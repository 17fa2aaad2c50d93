#include "client/failure.hpp"

#include "base/error.hpp"
#include "tenure/jobs/errors.hpp"
#include "tenure/messages/errors.hpp"
#include "tenure/queues/errors.hpp"

namespace tenure::client {
namespace {

using Kind = CallFailed::Kind;

/// What is being handled; throws it as it is when it is no failure of a call.
CallFailed Caught() {
  try {
    throw;
  } catch (const CallFailed& failed) {
    return failed;
  } catch (const base::Fault& fault) {
    const bool denied = fault.kind() == base::FaultKind::kDenied;
    return {denied ? Kind::kDenied : Kind::kUnavailable, fault.what(), fault.outcome_unknown()};
  } catch (const base::UserError& error) {
    return {Kind::kUnavailable, error.what()};
  }
}

}  // namespace

void RethrowAsLeaseError(leases::LeaseError::About about) {
  const CallFailed failed = Caught();
  about.outcome_unknown = failed.outcome_unknown();
  about.retry_after = failed.retry_after();
  if (failed.kind() == Kind::kInvalid) throw std::invalid_argument(failed.what());
  if (failed.kind() == Kind::kDenied) throw leases::AccessDenied(failed.what(), std::move(about));
  if (failed.kind() == Kind::kUnfit) throw leases::UnfitStore(failed.what(), std::move(about));
  throw leases::ProviderUnavailable(failed.what(), std::move(about));
}

void RethrowAsMessageError() {
  const CallFailed failed = Caught();
  if (failed.kind() == Kind::kInvalid) throw std::invalid_argument(failed.what());
  if (failed.kind() == Kind::kDenied) throw messages::AccessDenied(failed.what());
  throw messages::Unavailable(failed.what(), failed.outcome_unknown());
}

void RethrowAsJobError() {
  const CallFailed failed = Caught();
  if (failed.kind() == Kind::kInvalid) throw std::invalid_argument(failed.what());
  if (failed.kind() == Kind::kDenied) throw jobs::AccessDenied(failed.what());
  throw jobs::Unavailable(failed.what(), failed.outcome_unknown());
}

void RethrowAsQueueError() {
  const CallFailed failed = Caught();
  if (failed.kind() == Kind::kInvalid) throw std::invalid_argument(failed.what());
  if (failed.kind() == Kind::kDenied) throw queues::AccessDenied(failed.what());
  throw queues::Unavailable(failed.what(), failed.outcome_unknown());
}

}  // namespace tenure::client
