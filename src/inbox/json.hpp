#pragma once

#include <string>

#include "http/message.hpp"
#include "inbox/look.hpp"
#include "inbox/message.hpp"

namespace tenure::inbox {

std::string BeginJson(const BeginOutcome& outcome);
/// REQUIRES: kAccepted.
std::string FinishJson(const FinishOutcome& outcome);
std::string EntryJson(const MessageKey& key, const EntryRow& row, std::int64_t now_ms);

/// The claim with `fence` is over; says what is instead.
http::Problem StaleProblem(std::int64_t fence, const FinishOutcome& outcome);

}  // namespace tenure::inbox
