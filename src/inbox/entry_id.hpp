#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "inbox/message.hpp"

namespace tenure::inbox {

/// One text for an inbound message, as the search, cursors and pages have it: "stripe/evt_1". A slash
/// and a percent sign of the source stand in it as %2F and %25, so that it says which is which.
std::string EntryId(const MessageKey& key);

/// Nothing: it is no such text.
std::optional<MessageKey> ParseEntryId(std::string tenant, std::string_view id);

}  // namespace tenure::inbox
