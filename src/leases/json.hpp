#pragma once

#include <optional>
#include <string>

#include "base/caller.hpp"
#include "base/json_writer.hpp"
#include "http/message.hpp"
#include "leases/change.hpp"
#include "leases/reads.hpp"

namespace tenure::leases {

void WriteGrant(base::JsonWriter& json, const Grant& grant);
std::string GrantJson(const Grant& grant);
std::string ViewJson(const LeaseView& view);
std::string PageJson(const PageReply& page);
/// An answer per item: a grant, or `{"lost": reason}` with its name.
std::string RenewalsJson(const std::vector<RenewCommand>& commands,
                         const std::vector<RenewOutcome>& outcomes);
std::string ReleaseJson(const ReleaseOutcome& outcome);

http::Problem HeldProblem(const HeldByAnother& held);
http::Problem LostProblem(LossReason reason);

/// What is answered to a break, and kept of it under an idempotency key; nothing when nothing could
/// be broken: that is not kept.
std::optional<base::StoredAnswer> BreakAnswer(const Outcome& outcome);
http::Problem GuardedProblem(const BreakOutcome& outcome);

}  // namespace tenure::leases
