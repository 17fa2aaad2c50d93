#pragma once

#include "explain/explanation.hpp"
#include "usage/reads.hpp"

namespace tenure::usage {

/// "sending": how far a window is on its way to the receiver.
std::string_view StateOf(const WindowView& view);

/// Why a window's records are where they are. `with_counts`: how many there are, which is for those
/// who may see all tenants.
explain::Explanation Explain(const WindowView& view, bool with_counts);

}  // namespace tenure::usage
