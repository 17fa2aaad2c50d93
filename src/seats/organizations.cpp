#include "seats/organizations.hpp"

#include "base/json_text.hpp"
#include "base/json_writer.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

constexpr auto kOrganizationColumns =
    db::Members(&Organization::id, &Organization::name, &Organization::contact_email,
                &Organization::metadata, &Organization::created_ms);

db::AuditEvent OrganizationEvent(const Organization& organization) {
  return {organization.id, OrganizationJson(organization)};
}

void WriteOrganization(base::JsonWriter& json, const Organization& organization) {
  json.BeginObject()
      .Field("id", std::string_view(organization.id))
      .Field("name", std::string_view(organization.name))
      .Field("contact_email", std::string_view(organization.contact_email));
  json.Key("metadata").Raw(base::ObjectOrEmpty(organization.metadata));
  json.Key("created_at").Time(organization.created_ms).EndObject();
}

}  // namespace

/// One by one: organisations are made seldom. One that is being made elsewhere is waited for, and then
/// read in a statement of its own.
void MakeOrganizations(db::Transaction& tx, db::Items<Organization, MadeOrganization> items) {
  for (auto* item : items) {
    const Organization& wanted = item->request;
    const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
    MadeOrganization made;
    made.is_new =
        !tx.Run(sql::kAddOrganization, std::string_view(wanted.id), std::string_view(wanted.name),
                std::string_view(wanted.contact_email), std::string_view(wanted.metadata), now_ms)
             .empty();
    const db::Rows rows = tx.Run(sql::kFindOrganization, std::string_view(wanted.id));
    made.organization = ReadOrganization(rows[0]);
    made.same = made.organization.name == wanted.name &&
                made.organization.contact_email == wanted.contact_email &&
                made.organization.metadata == wanted.metadata;
    if (made.is_new) item->Did(OrganizationEvent(made.organization));
    item->reply = std::move(made);
  }
}

void ChangeOrganizations(db::Transaction& tx,
                         db::Items<OrganizationChange, ChangedOrganization> items) {
  for (auto* item : items) {
    const OrganizationChange& change = item->request;
    item->reply = ChangedOrganization();
    tx.Queue(sql::kLockOrganization, std::string_view(change.id));
    const db::Rows rows = tx.Run(sql::kFindOrganization, std::string_view(change.id));
    if (rows.empty()) continue;
    Organization organization = ReadOrganization(rows[0]);
    organization.name = change.name.value_or(organization.name);
    organization.contact_email = change.contact_email.value_or(organization.contact_email);
    organization.metadata = change.metadata.value_or(organization.metadata);
    tx.Queue(sql::kWriteOrganization, std::string_view(organization.id),
             std::string_view(organization.name), std::string_view(organization.contact_email),
             std::string_view(organization.metadata));
    item->Did(OrganizationEvent(organization));
    item->reply->organization = std::move(organization);
  }
}

db::Transaction::Pending QueueOrganizations(db::Transaction& tx,
                                            const OrganizationsRequest& request,
                                            std::int64_t rows) {
  return tx.Queue(sql::kListOrganizations, std::string_view(request.id),
                  std::string_view(request.after), rows);
}

Organization ReadOrganization(const db::Rows::Row& row) {
  return db::ReadAs<Organization>(row, kOrganizationColumns);
}

std::string OrganizationJson(const Organization& organization) {
  std::string body;
  base::JsonWriter json(body);
  WriteOrganization(json, organization);
  return body;
}

std::string OrganizationsJson(const db::Page<Organization>& page) {
  return base::PageJson(page.rows, page.has_more, WriteOrganization,
                        [](const Organization& last) { return std::string_view(last.id); });
}

}  // namespace tenure::seats
