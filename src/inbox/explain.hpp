#pragma once

#include <cstdint>
#include <string_view>

#include "explain/explanation.hpp"
#include "inbox/ledger.hpp"

namespace tenure::inbox {

/// Where an entry stands, for people: also a claim whose lease has passed is told.
std::string_view Standing(const MessageRow& row, std::int64_t now_ms);

/// Who processes an inbound message until when, what it waits for, or how it ended.
explain::Explanation Explain(const MessageKey& key, const MessageRow& row, std::int64_t now_ms);

}  // namespace tenure::inbox
