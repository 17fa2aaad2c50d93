// The program without its page (-DTENURE_DASHBOARD=OFF).
#include "page/assets.hpp"

namespace tenure::page {

std::span<const Asset> Assets() { return {}; }

std::span<const Asset> Docs() { return {}; }

}  // namespace tenure::page
