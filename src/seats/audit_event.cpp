#include "seats/audit_event.hpp"

#include "base/json_writer.hpp"

namespace tenure::seats {
namespace {

using base::JsonWriter;
using db::AuditEvent;

void WriteTermsOf(JsonWriter& json, const LicenseRow& license) {
  json.Field("organization", std::string_view(license.tenant))
      .Field("seats", license.seats)
      .Field("ttl_seconds", license.ttl_ms / 1'000)
      .Field("grace_seconds", license.grace_ms / 1'000)
      .Field("revision", license.revision);
  json.Key("valid_from").TimeOrNull(license.valid_from_ms);
  json.Key("valid_until").TimeOrNull(license.valid_until_ms);
}

struct EventOf {
  const Outcome& outcome;

  const AdminOutcome* Changed() const {
    const auto& admin = std::get<AdminOutcome>(outcome);
    return admin.changed ? &admin : nullptr;
  }
  static AuditEvent Of(const base::Uuid& id, const auto& write) {
    AuditEvent event{id.ToString(), ""};
    JsonWriter json(event.detail);
    json.BeginObject();
    write(json);
    json.EndObject();
    return event;
  }

  std::optional<AuditEvent> operator()(const RevokeSeatCommand& command) const {
    const auto& revoked = std::get<RevokeSeatOutcome>(outcome);
    if (!revoked.changed) return std::nullopt;
    return Of(command.session, [&](JsonWriter& json) {
      json.Field("license", command.license)
          .Field("reason", std::string_view(command.reason))
          .Field("force", command.force)
          .Field("machine", std::string_view(revoked.holding->row.machine.value_or("")))
          .Field("person", std::string_view(revoked.holding->row.person));
    });
  }
  std::optional<AuditEvent> operator()(const TicketCommand& command) const {
    if (!std::holds_alternative<TicketLeft>(std::get<TicketOutcome>(outcome))) return std::nullopt;
    return Of(command.ticket, [&](JsonWriter& json) { json.Field("license", command.license); });
  }
  std::optional<AuditEvent> operator()(const ChangeCommand& command) const {
    const AdminOutcome* const changed = Changed();
    if (!changed) return std::nullopt;
    return Of(command.license, [&](JsonWriter& json) {
      WriteTermsOf(json, changed->license);
      json.Field("suspended", changed->license.state == LicenseState::kSuspended)
          .Field("reason", std::string_view(command.reason));
    });
  }
  std::optional<AuditEvent> operator()(const RevokeLicenseCommand& command) const {
    const AdminOutcome* const changed = Changed();
    if (!changed) return std::nullopt;
    return Of(command.license, [&](JsonWriter& json) {
      json.Field("organization", std::string_view(changed->license.tenant))
          .Field("reason", std::string_view(command.reason));
    });
  }
  std::optional<AuditEvent> operator()(const RotateKeyCommand& command) const {
    const AdminOutcome* const changed = Changed();
    if (!changed) return std::nullopt;
    return Of(command.license, [&](JsonWriter& json) {
      json.Field("organization", std::string_view(changed->license.tenant))
          .Field("key_hint", std::string_view(command.key_hint))
          .Field("overlap_seconds", command.overlap_ms / 1'000);
    });
  }
  std::optional<AuditEvent> operator()(const auto&) const { return std::nullopt; }
};

}  // namespace

std::optional<AuditEvent> AuditEventOf(const Command& command, const Outcome& outcome) {
  return std::visit(EventOf{outcome}, command);
}

AuditEvent AuditEventOf(const LicenseRow& created) {
  return EventOf::Of(created.id, [&](JsonWriter& json) { WriteTermsOf(json, created); });
}

}  // namespace tenure::seats
