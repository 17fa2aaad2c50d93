#include "base/tenant.hpp"

#include "base/utf8.hpp"
#include "base/uuid.hpp"

namespace tenure::base {

std::optional<std::string> CanonicalTenant(std::string_view text) {
  if (text.empty() || text.size() > kMaxTenantBytes || HasControls(text)) return std::nullopt;
  const auto id = Uuid::Parse(text);
  if (!id) return std::string(text);
  if (*id == Uuid()) return std::nullopt;
  return id->ToString();
}

}  // namespace tenure::base
