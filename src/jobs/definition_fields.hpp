#pragma once

#include <cstddef>
#include <vector>

#include "http/json_fields.hpp"
#include "jobs/times.hpp"

namespace tenure::jobs {

/// Reads what whoever makes a job says: the body of PUT, and an entry of the configuration file. What
/// cannot be read is refused by `fields` (400); what cannot be meant is in the result (422).
/// REQUIRES: the result and the mistakes count only when `fields` refuse nothing.
struct ReadDefinition {
  Definition definition{};
  std::vector<Mistake> mistakes{};
};
ReadDefinition ReadFields(http::JsonObject& fields, std::size_t payload_max_bytes,
                          const calendar::Zones& zones);

/// `cron` or `every`, `time_zone`, `gap`, `repeat`: as above, for those who only ask for times.
void ReadTimes(http::JsonObject& fields, ReadDefinition& read);

}  // namespace tenure::jobs
