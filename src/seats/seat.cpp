#include "seats/seat.hpp"

namespace tenure::seats {

std::string_view ToText(Standing standing) {
  switch (standing) {
    case Standing::kActive:
      return "active";
    case Standing::kSuspended:
      return "suspended";
    case Standing::kRevoked:
      return "revoked";
    case Standing::kExpired:
      return "expired";
    case Standing::kNotYetValid:
      return "not_yet_valid";
  }
  return "";
}

std::string_view ToText(EndReason reason) {
  switch (reason) {
    case EndReason::kExpired:
      return "expired";
    case EndReason::kReleased:
      return "released";
    case EndReason::kResumedElsewhere:
      return "resumed_elsewhere";
    case EndReason::kRevoked:
      return "revoked";
    case EndReason::kLicenseSuspended:
      return "license_suspended";
    case EndReason::kLicenseRevoked:
      return "license_revoked";
    case EndReason::kLicenseExpired:
      return "license_expired";
  }
  return "";
}

Standing LicenseRow::StandingAt(std::int64_t now_ms) const {
  if (state == LicenseState::kRevoked) return Standing::kRevoked;
  if (state == LicenseState::kSuspended) return Standing::kSuspended;
  if (valid_until_ms > 0 && valid_until_ms <= now_ms) return Standing::kExpired;
  if (valid_from_ms > now_ms) return Standing::kNotYetValid;
  return Standing::kActive;
}

std::int64_t LicenseRow::DeadlineFrom(std::int64_t now_ms) const {
  const std::int64_t deadline_ms = now_ms + ttl_ms + grace_ms;
  return valid_until_ms > 0 ? std::min(deadline_ms, valid_until_ms) : deadline_ms;
}

std::int64_t Limits::FrozenUntilMs(const LicenseRow& license) const {
  if (frozen_ms <= 0 || license.born >= incarnation) return 0;
  if (std::max({frozen_ms, freeze_ms, redis.lag_ms}) > kNever / 4) return kNever;
  return frozen_ms + std::max(freeze_ms, license.longest_ms + redis.lag_ms);
}

std::string WakeKey(const base::Uuid& license, std::string_view machine) {
  std::string key = "seat/";
  license.AppendTo(key);
  key += '/';
  key += machine;
  return key;
}

}  // namespace tenure::seats
