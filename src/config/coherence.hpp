#pragma once

#include "config/load.hpp"
#include "config/problem.hpp"

namespace tenure::config {

/// Settles what single settings cannot: refuses values that are right by themselves but not
/// together, and puts `store.password` into the addresses that need it.
void MakeCoherent(Loaded& loaded, Problems& problems);

}  // namespace tenure::config
