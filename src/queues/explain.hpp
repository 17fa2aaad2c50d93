#pragma once

#include "explain/explanation.hpp"
#include "queues/reads.hpp"

namespace tenure::queues {

/// Whether a queue hands out its sessions, and what keeps it from that.
explain::Explanation Explain(const QueueView& view);

/// Why a session does not move, or what it waits for. Its state is SessionView::Reason.
explain::Explanation Explain(const SessionView& view);

}  // namespace tenure::queues
