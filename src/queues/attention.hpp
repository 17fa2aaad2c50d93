#pragma once

#include "explain/glance.hpp"
#include "queues/tidy.hpp"

namespace tenure::queues {

/// What the overview shows of the queues, as they were counted.
explain::Glance GlanceOf(const FiguresReply& figures);

}  // namespace tenure::queues
