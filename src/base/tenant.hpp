#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

inline constexpr std::size_t kMaxTenantBytes = 200;

/// A tenant as it is on record, whoever names it: a token, a program, an SQL function
/// (tenure.tenant_of does the same). 1 to 200 bytes of UTF-8 without control characters. One that is
/// a UUID has one spelling, in lower case; the nil UUID stands for nobody. Empty: it is no tenant.
std::optional<std::string> CanonicalTenant(std::string_view text);

}  // namespace tenure::base
