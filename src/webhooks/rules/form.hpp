#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::webhooks::rules {

/// The payload of a body of type application/x-www-form-urlencoded: the value of its one field
/// `payload`. Nothing when there is none, more than one, another field beside it, or an escape that
/// is none.
std::optional<std::string> PayloadOfForm(std::string_view form);

}  // namespace tenure::webhooks::rules
