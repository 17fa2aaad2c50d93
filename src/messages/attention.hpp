#pragma once

#include "explain/glance.hpp"
#include "messages/reads.hpp"

namespace tenure::messages {

/// What the overview shows of messages.
explain::Glance GlanceOf(const CountsReply& counts);

}  // namespace tenure::messages
