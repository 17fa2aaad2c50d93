#pragma once

#include <string>

#include "base/json_writer.hpp"
#include "db/once.hpp"
#include "http/message.hpp"
#include "leases/change.hpp"
#include "leases/look.hpp"

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

/// What is kept of a break under an idempotency key.
db::Answer BreakAnswer(const ChangeReply& reply);
http::Problem GuardedProblem(const BreakOutcome& outcome);

}  // namespace tenure::leases
