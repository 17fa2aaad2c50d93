#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "http/exchange.hpp"

/// What requests of operators have in common: whom they may name, and who they are.
namespace tenure::seats {

inline constexpr std::size_t kMaxNameBytes = 200;
inline constexpr std::size_t kMaxOrganizationBytes = 200;
inline constexpr std::size_t kMaxReasonBytes = 500;
inline constexpr const char* kNoOrganization =
    "must be 1 to 200 bytes without control characters, and not the nil UUID";

/// Whether organisations other than the asker's own may be named.
bool MayNameAny(const http::ExchangePtr& exchange);
/// Whose licences are seen: the asker's own, or any (empty).
std::string SeenTenant(const http::ExchangePtr& exchange);
/// The one that is named, if it may be; without one the asker's own.
std::string OrganizationOr(const http::ExchangePtr& exchange, std::optional<std::string> named);
const std::string& PersonOf(const http::ExchangePtr& exchange);

}  // namespace tenure::seats
