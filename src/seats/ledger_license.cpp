// The licence itself, what operators do to it, and its log.

#include <algorithm>
#include <cstring>

#include "base/json_writer.hpp"
#include "seats/ledger.hpp"

namespace tenure::seats {
namespace {

using base::JsonWriter;

/// What of a licence decides who may hold a seat, and for how long.
void WriteTerms(JsonWriter& json, const LicenseRow& license) {
  json.Field("seats", license.seats)
      .Field("ttl_ms", license.ttl_ms)
      .Field("grace_ms", license.grace_ms)
      .Field("valid_from_ms", license.valid_from_ms)
      .Field("valid_until_ms", license.valid_until_ms)
      .Field("suspended", license.state == LicenseState::kSuspended);
}

void WriteWhy(JsonWriter& json, const std::string& reason, const std::string& by) {
  if (!reason.empty()) json.Field("reason", std::string_view(reason));
  json.Field("by", std::string_view(by));
}

/// How many rows that were just added are known one by one; the others stay unseen.
constexpr std::int64_t kNewRowsSeen = 1'000;

}  // namespace

/// Deadlines are of the clock. The log's times never fall, so that it can be read without one: where the
/// clock was set back, an entry says what it showed.
NewEntry& Ledger::Log(LogKind kind, const SeatRow* row, const WriteFields& write) {
  NewEntry added;
  LogEntry& entry = added.entry;
  entry.kind = ToText(kind);
  entry.at_ms = std::max(now_ms_, license_.last_ms);
  if (row) {
    entry.session = row->session;
    entry.slot = row->slot;
    entry.fence = row->fence;
  }
  entry.detail.clear();
  JsonWriter json(entry.detail);
  json.BeginObject();
  write(json);
  if (setting_.clock_ms < license_.last_ms) json.Field("clock_ms", setting_.clock_ms);
  json.EndObject();
  license_.last_ms = entry.at_ms;
  Append(std::move(added));
  return entries_.back();
}

/// It has the exact time of the deadline, whenever it is written.
void Ledger::LogExpired(const SeatRow& row, std::int64_t from_ms) {
  NewEntry added;
  LogEntry& entry = added.entry;
  entry.kind = ToText(LogKind::kSeatExpired);
  entry.at_ms = row.expires_ms;
  entry.session = row.session;
  entry.slot = row.slot;
  entry.fence = row.fence;
  entry.detail.clear();
  JsonWriter json(entry.detail);
  json.BeginObject()
      .Field("machine", std::string_view(row.machine.value_or("")))
      .Field("person", std::string_view(row.person))
      .Field("last_heartbeat_ms", row.beat_ms);
  if (from_ms > 0) json.Field("from_ms", from_ms);
  json.EndObject();
  Append(std::move(added));
}

void Ledger::Append(NewEntry added) {
  LogEntry& entry = added.entry;
  entry.license = license_.id;
  entry.seq = ++license_.log_seq;
  LogHash previous{};
  std::memcpy(previous.data(), license_.log_hash.data(),
              std::min(previous.size(), license_.log_hash.size()));
  entry.hash = HashOf(previous, entry);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  license_.log_hash.assign(reinterpret_cast<const char*>(entry.hash.data()), entry.hash.size());
  entries_.push_back(std::move(added));
}

void Ledger::LowerLook(std::int64_t deadline_ms) {
  license_.look_ms = std::min(license_.look_ms, deadline_ms);
}

void Ledger::CountHolders(std::int64_t change) {
  license_.holders += change;
  if (license_.holders <= license_.peak) return;
  license_.peak = license_.holders;
  license_.peak_ms = now_ms_;
}

AdminOutcome Ledger::Refuse(AdminOutcome::Kind kind) const {
  AdminOutcome outcome;
  outcome.kind = kind;
  outcome.license = license_;
  outcome.now_ms = now_ms_;
  return outcome;
}

AdminOutcome Ledger::Done(bool changed) const {
  AdminOutcome outcome = Refuse(AdminOutcome::Kind::kDone);
  outcome.changed = changed;
  outcome.waiting = waiting_;
  outcome.offered = std::max<std::int64_t>(0, ticket_count_ - waiting_);
  return outcome;
}

Holding Ledger::HoldingOf(const SeatRow& row) const {
  Holding holding{.license = license_.id, .row = row, .now_ms = now_ms_};
  if (row.open) {
    holding.ended_ms = row.expires_ms;
    holding.end = row.revoked ? EndReason::kRevoked : EndReason::kExpired;
  }
  return holding;
}

RevokeSeatOutcome Ledger::RevokeSeat(const RevokeSeatCommand& command) {
  SeatRow* const row = FindSession(command.session);
  const bool theirs = command.tenant.empty() || license_.tenant == command.tenant;
  if (!theirs || !row) return {};
  RevokeSeatOutcome outcome;
  if (row->open) {
    outcome.holding = HoldingOf(*row);
    FreeNow(*row);
    Settle();
    return outcome;
  }
  outcome.changed = command.force || !row->revoked;
  if (outcome.changed)
    Log(LogKind::kSeatRevoked, row, [&](JsonWriter& json) {
      json.Field("machine", std::string_view(*row->machine))
          .Field("person", std::string_view(row->person))
          .Field("force", command.force)
          .Field("last_heartbeat_ms", row->beat_ms);
      WriteWhy(json, command.reason, command.by);
    });
  row->revoked = true;
  outcome.holding = HoldingOf(*row);
  if (!command.force) return outcome;
  outcome.holding->ended_ms = now_ms_;
  outcome.holding->end = EndReason::kRevoked;
  ended_[command.session] = {EndReason::kRevoked, now_ms_, row->beat_ms, row->person};
  CountHolders(-1);
  FreeNow(*row);
  Settle();
  return outcome;
}

void Ledger::SetSeats(std::int64_t seats) {
  license_.seats = seats;
  const std::int64_t more = seats - license_.row_count;
  if (more <= 0) return;
  const std::int64_t seen = std::min(more, kNewRowsSeen);
  for (std::int64_t i = 1; i <= seen; ++i) {
    const SeatRow row{.slot = license_.last_slot + i};
    rows_.emplace(row.slot, row);
    loaded_rows_.emplace(row.slot, row);
  }
  unseen_open_ += more - seen;
  license_.last_slot += more;
  license_.row_count += more;
}

void Ledger::Create(const std::string& by) {
  SetSeats(license_.seats);
  Log(LogKind::kLicenseCreated, nullptr, [&](JsonWriter& json) {
    json.Field("organization", std::string_view(license_.tenant));
    WriteTerms(json, license_);
    WriteWhy(json, {}, by);
  });
}

AdminOutcome Ledger::Change(const ChangeCommand& command) {
  if (!command.tenant.empty() && license_.tenant != command.tenant)
    return Refuse(AdminOutcome::Kind::kNoLicense);
  if (license_.state == LicenseState::kRevoked) return Refuse(AdminOutcome::Kind::kRevoked);
  if (command.if_revision && *command.if_revision != license_.revision)
    return Refuse(AdminOutcome::Kind::kOtherRevision);
  const LicenseRow before = license_;
  LicenseRow after = license_;
  after.ttl_ms = command.ttl_ms.value_or(after.ttl_ms);
  after.grace_ms = command.grace_ms.value_or(after.grace_ms);
  // The interval follows a shorter ttl, unless it was given.
  after.interval_ms = command.interval_ms.value_or(std::min(after.interval_ms, after.ttl_ms / 2));
  after.valid_from_ms = command.valid_from_ms.value_or(after.valid_from_ms);
  after.valid_until_ms = command.valid_until_ms.value_or(after.valid_until_ms);
  after.name = command.name.value_or(after.name);
  after.metadata = command.metadata.value_or(after.metadata);
  if (command.suspended)
    after.state = *command.suspended ? LicenseState::kSuspended : LicenseState::kActive;
  after.longest_ms = std::max(after.longest_ms, after.ttl_ms + after.grace_ms);
  const auto refused = [&](std::string field, std::string why) {
    AdminOutcome outcome = Refuse(AdminOutcome::Kind::kRefused);
    outcome.refused_field = std::move(field);
    outcome.refused = std::move(why);
    return outcome;
  };
  if (after.interval_ms > after.ttl_ms / 2)
    return refused("heartbeat_interval_seconds", "must be at most half of ttl_seconds");
  if (after.valid_until_ms > 0 && after.valid_until_ms <= after.valid_from_ms)
    return refused("valid_until", "must be after valid_from");
  license_ = after;
  if (command.seats) SetSeats(*command.seats);
  if (license_ == before) return Done(false);
  ++license_.revision;
  Log(LogKind::kLicenseChanged, nullptr, [&](JsonWriter& json) {
    WriteTerms(json, license_);
    json.Key("was").BeginObject();
    WriteTerms(json, before);
    json.EndObject();
    WriteWhy(json, command.reason, command.by);
  });
  Settle();
  return Done(true);
}

AdminOutcome Ledger::RevokeLicense(const RevokeLicenseCommand& command) {
  if (!command.tenant.empty() && license_.tenant != command.tenant)
    return Refuse(AdminOutcome::Kind::kNoLicense);
  if (license_.state == LicenseState::kRevoked) return Done(false);
  license_.state = LicenseState::kRevoked;
  ++license_.revision;
  Log(LogKind::kLicenseRevoked, nullptr,
      [&](JsonWriter& json) { WriteWhy(json, command.reason, command.by); });
  return Done(true);
}

AdminOutcome Ledger::RotateKey(const RotateKeyCommand& command, bool taken) {
  if (!command.tenant.empty() && license_.tenant != command.tenant)
    return Refuse(AdminOutcome::Kind::kNoLicense);
  if (license_.state == LicenseState::kRevoked) return Refuse(AdminOutcome::Kind::kRevoked);
  if (taken) return Refuse(AdminOutcome::Kind::kKeyTaken);
  license_.key_hint = command.key_hint;
  ++license_.revision;
  Log(LogKind::kLicenseKeyRotated, nullptr, [&](JsonWriter& json) {
    json.Field("key_hint", std::string_view(command.key_hint))
        .Field("overlap_ms", command.overlap_ms)
        .Field("by", std::string_view(command.by));
  });
  return Done(true);
}

void Ledger::NoteDenials(const NoteDenialsCommand& command) {
  Log(LogKind::kSeatDenied, nullptr, [&](JsonWriter& json) {
    json.Field("count", command.count)
        .Field("machines", command.machines)
        .Field("from_ms", command.from_ms)
        .Field("to_ms", command.to_ms)
        .Field("process", std::string_view(setting_.process));
  });
}

void Ledger::Checkpoint() {
  const std::string before(license_.log_hash);
  LogHash hash{};
  std::memcpy(hash.data(), before.data(), std::min(hash.size(), before.size()));
  Log(LogKind::kLogCheckpoint, nullptr, [&](JsonWriter& json) {
    WriteTerms(json, license_);
    json.Field("before", std::string_view(HexOf(hash)))
        .Field("highest", license_.peak)
        .Field("highest_at_ms", license_.peak_ms);
    json.Key("held").BeginArray();
    // What this transaction knows is as it has become: a seat that was given in it is held, one that
    // has lapsed or was deleted is not. The rest is as it was loaded.
    std::map<std::int64_t, const SeatRow*> held;
    for (const SeatRow& row : holdings_)
      if (!loaded_rows_.contains(row.slot)) held.emplace(row.slot, &row);
    for (const auto& [slot, row] : rows_)
      if (row.is_held()) held.emplace(slot, &row);
    for (const auto& [slot, row] : held)
      json.BeginObject()
          .Field("session_id", *row->session)
          .Field("slot", row->slot)
          .Field("fence", row->fence)
          .Field("started_ms", row->started_ms)
          .EndObject();
    json.EndArray();
  });
}

}  // namespace tenure::seats
