#pragma once

#include <vector>

#include "base/task.hpp"
#include "seats/beat_path.hpp"

namespace tenure::seats {

/// Adds to holdings of one licence what is known of them where heartbeats go beside the store; `path` null: nowhere.
/// `done` gets them in their order: at once where there is nothing to ask, else on `home`.
void AddKnownThere(BeatPath* path, std::vector<Holding> holdings, base::Executor* home,
                   base::UniqueFunction<std::vector<Holding>> done);

}  // namespace tenure::seats
