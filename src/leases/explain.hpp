#pragma once

#include "explain/explanation.hpp"
#include "leases/lease.hpp"

namespace tenure::leases {

/// Who holds a lease, or what keeps it from being granted: the reasons that an acquire is refused for
/// (Ledger::WhyNot), in the same order. What ended the grant before it comes last.
explain::Explanation Explain(const LeaseView& lease);

}  // namespace tenure::leases
