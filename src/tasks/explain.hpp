#pragma once

#include <cstdint>

#include "explain/explanation.hpp"
#include "tasks/batch.hpp"

namespace tenure::tasks {

/// Who runs a task, or when its next run begins and what became of the last one.
explain::Explanation Explain(const TaskView& task, std::int64_t now_ms);

}  // namespace tenure::tasks
