#include "seats/problems.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "base/uuid.hpp"

namespace tenure::seats {
namespace {

using http::Problem;

constexpr std::int64_t kMaxRetrySeconds = 60;

std::string Quoted(std::string_view text) {
  std::string json;
  base::JsonWriter(json).Value(text);
  return json;
}

std::string TimeJson(std::int64_t ms) {
  std::string json;
  base::JsonWriter(json).TimeOrNull(ms);
  return json;
}

/// Whole seconds, with up to a tenth on top: those who were refused together do not come back together.
int RetrySeconds(std::int64_t retry_ms) {
  std::uint8_t random = 0;
  base::RandomBytes(&random, 1);
  retry_ms = std::min(retry_ms, kMaxRetrySeconds * 1'000);
  retry_ms += retry_ms * random / 2'550;
  return static_cast<int>(std::clamp<std::int64_t>((retry_ms + 999) / 1'000, 1, kMaxRetrySeconds));
}

std::string WhyFull(const Full& full) {
  switch (full.reason) {
    case Full::Reason::kFull:
      return full.ticket
                 ? fmt::format("All seats are taken; you are number {} in the line.", full.position)
                 : "All seats are taken. Wait for one with wait_seconds, or ask again later.";
    case Full::Reason::kRevoked:
      return "An operator revoked this machine's seat. It can have another one when the deadline "
             "of "
             "the revoked one has passed.";
    case Full::Reason::kFrozen:
      return "The store was restored or promoted, and may have forgotten who holds a seat: until "
             "those would have noticed, none is given.";
  }
  return "";
}

std::string WhyLost(const Lost& lost) {
  switch (lost.reason) {
    case EndReason::kExpired:
      return fmt::format("No heartbeat received within {}. Please acquire a new seat.",
                         base::SpanText(lost.ttl_ms));
    case EndReason::kReleased:
      return "The seat was released. Acquire a new one to go on.";
    case EndReason::kResumedElsewhere:
      return "The same machine id acquired the seat again, which ended this session. Two machines "
             "with one id take the seat from each other.";
    case EndReason::kRevoked:
      return "An operator revoked the seat.";
    case EndReason::kLicenseSuspended:
      return "The licence is suspended.";
    case EndReason::kLicenseRevoked:
      return "The licence was revoked.";
    case EndReason::kLicenseExpired:
      return "The licence has expired.";
  }
  return "";
}

}  // namespace

Problem FullProblem(const Full& full) {
  Problem problem{.status = 403, .type = "seats-in-use", .title = "No seat is free"};
  problem.detail = WhyFull(full);
  problem.retry_after_s = RetrySeconds(full.retry_ms);
  problem.extensions = {{"error", Quoted("All license seats are currently in use")},
                        {"seats_available", "0"},
                        {"seats_total", std::to_string(full.total)},
                        {"reason", Quoted(ToText(full.reason))}};
  if (full.ticket) {
    problem.extensions.emplace_back("ticket", Quoted(full.ticket->ToString()));
    problem.extensions.emplace_back("position", std::to_string(full.position));
  }
  return problem;
}

Problem MachineHeldProblem(const MachineHeld& held) {
  Problem problem{
      .status = 409, .type = "machine-held", .title = "Another person uses this machine id"};
  problem.detail =
      "Another person has a seat, or a place in the line, under this machine_id. Machines that "
      "people share need an id for each of them.";
  problem.retry_after_s = RetrySeconds(held.retry_ms);
  problem.extensions = {{"error", Quoted("Another person uses this machine id")}};
  return problem;
}

Problem UnknownKeyProblem() {
  Problem problem{.status = 404, .type = "license-not-found", .title = "No such licence"};
  problem.detail = "The provided license key is invalid or has been deactivated";
  problem.extensions = {{"error", Quoted("License not found or inactive")}};
  return problem;
}

/// Of a licence whose key the asker has; an unknown one has the document's own words.
std::string WhyInactive(Standing standing) {
  switch (standing) {
    case Standing::kSuspended:
      return "The licence is suspended: nobody gets a seat of it until whoever sold it ends that.";
    case Standing::kRevoked:
      return "The licence was revoked, which is final: ask whoever sold it for another one.";
    case Standing::kNotYetValid:
      return "The licence has not begun: nobody gets a seat of it before its valid_from.";
    case Standing::kActive:
    case Standing::kExpired:
      break;
  }
  return "Nobody gets a seat of it.";
}

Problem InactiveProblem(const Inactive& inactive, const std::string& contact) {
  if (inactive.standing == Standing::kExpired) {
    Problem problem{.status = 403, .type = "license-expired", .title = "The licence has expired"};
    problem.detail = "Nobody gets a seat of it any more.";
    problem.extensions = {{"error", Quoted("License has expired")},
                          {"expired_at", TimeJson(inactive.expired_ms)}};
    if (!contact.empty()) problem.extensions.emplace_back("contact_support", Quoted(contact));
    return problem;
  }
  Problem problem = UnknownKeyProblem();
  problem.detail = WhyInactive(inactive.standing);
  problem.extensions.emplace_back("reason", Quoted(ToText(inactive.standing)));
  return problem;
}

Problem UnknownLicense() { return http::NotFound("No licence of your organisation has this id."); }

Problem UnknownSession() {
  Problem problem =
      http::NotFound("The specified session does not exist or has already been released");
  problem.extensions = {{"error", Quoted("Session not found")}};
  return problem;
}

Problem UnknownTicket() {
  return http::NotFound("The ticket does not exist, was used, or was not refreshed for too long.");
}

Problem LostProblem(const Lost& lost) {
  Problem problem{.status = 410, .type = "seat-lost", .title = "The seat is lost"};
  problem.detail = WhyLost(lost);
  problem.extensions = {{"error", Quoted(lost.reason == EndReason::kExpired ? "Session has expired"
                                                                            : "Session has ended")},
                        {"reason", Quoted(ToText(lost.reason))},
                        {"last_heartbeat_at", TimeJson(lost.beat_ms)},
                        {"ended_at", TimeJson(lost.ended_ms)}};
  return problem;
}

Problem LostProblem(const Inactive& inactive) {
  Lost lost;
  lost.reason = inactive.standing == Standing::kRevoked   ? EndReason::kLicenseRevoked
                : inactive.standing == Standing::kExpired ? EndReason::kLicenseExpired
                                                          : EndReason::kLicenseSuspended;
  Problem problem = LostProblem(lost);
  problem.title = "There is nothing to wait for";
  return problem;
}

Problem RestoredProblem(const Forgotten& forgotten) {
  Problem problem{.status = 503,
                  .type = "store-restored",
                  .title = "The store was restored and may have forgotten this session"};
  problem.detail =
      "The store does not know this session as live, and may have forgotten it. Go on until your "
      "own "
      "deadline, and send heartbeats meanwhile.";
  problem.retry_after_s = RetrySeconds(forgotten.retry_ms);
  return problem;
}

}  // namespace tenure::seats
