#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/caller.hpp"
#include "base/json_writer.hpp"
#include "seats/create.hpp"
#include "seats/settle.hpp"

namespace tenure::seats {

/// Without the key: that is not kept anywhere.
std::string GrantJson(const Grant& grant);
/// A body that was kept, with what it does not have.
std::string WithKey(std::string_view body, std::string_view license_key);
/// A grant that was kept, for who asks again: so much is left now, and this time it has not waited.
std::string GrantAgain(std::string_view kept, std::int64_t remaining_ms);
std::optional<base::Uuid> SessionOfGrant(std::string_view kept);
std::string WaitingJson(const Waiting& waiting);
std::string BeatJson(const base::Uuid& session, const Beat& beat, std::int64_t now_ms);
/// `{alive: […], lost: […]}`.
std::string BeatsJson(const std::vector<base::Uuid>& sessions,
                      const std::vector<HeartbeatOutcome>& outcomes, std::int64_t now_ms);
std::string TicketJson(const TicketView& view);
/// "active", "lapsed", "revoked" or "ended".
std::string_view StateOf(const Holding& holding);
void WriteHolding(base::JsonWriter& json, const Holding& holding);
std::string HoldingJson(const Holding& holding);

/// How many of a licence's seats are offered, and how many wait for one.
struct LineCounts {
  std::int64_t offered = 0;
  std::int64_t waiting = 0;
};
/// Its fields, without the brackets.
void WriteLicense(base::JsonWriter& json, const LicenseRow& license, const LineCounts& line,
                  std::int64_t now_ms);
std::string LicenseJson(const LicenseRow& license, const LineCounts& line, std::int64_t now_ms);

/// What is kept under an idempotency key; nothing where asking again may help. Never a key.
std::optional<base::StoredAnswer> KeptAnswer(const Outcome& outcome);
std::optional<base::StoredAnswer> KeptCreation(const CreateReply& reply);

}  // namespace tenure::seats
