#pragma once

#include <string>

#include "audit/look.hpp"

namespace tenure::audit {

/// {"items": […], "next_cursor": …}
std::string ListJson(const ListReply& reply);

}  // namespace tenure::audit
