#include <fmt/format.h>

#include "base/tenant.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "seats/json.hpp"
#include "seats/operator.hpp"
#include "seats/routes.hpp"

namespace tenure::seats {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Problem;
using http::QueryFields;

constexpr const char* kCreateOrganization = "organization.create";
constexpr const char* kChangeOrganization = "organization.change";

/// That of the path.
std::string OrganizationOf(const ExchangePtr& exchange) {
  const std::string& id = exchange->request().path_parameters[0];
  return base::CanonicalTenant(id).value_or(id);
}

Problem OrganizationExists(const Organization& organization) {
  return {
      .status = 409,
      .type = "organization-exists",
      .title = "The organisation is there, and is another",
      .detail = fmt::format("The organisation {} has another name, contact or metadata. Change it "
                            "with PATCH, or by `tenure organization change`.",
                            organization.id)};
}
Problem UnknownOrganization() { return http::NotFound("There is no such organisation."); }

void CreateOrganization(const RouteParts& parts, const ExchangePtr& exchange) {
  Organization organization;
  JsonFields fields(exchange->request().body);
  const std::string id = fields.NonEmptyText("id", kMaxOrganizationBytes);
  if (auto tenant = base::CanonicalTenant(id))
    organization.id = *std::move(tenant);
  else if (!id.empty())
    fields.Refuse("id", kNoOrganization);
  organization.name = fields.NonEmptyText("name", kMaxNameBytes);
  organization.contact_email = fields.OptionalText("contact_email", kMaxNameBytes).value_or("");
  organization.metadata = fields.OptionalObject("metadata", kMaxMetadataBytes).value_or("");
  http::ReadReason(exchange, fields);
  fields.Finish();
  parts.seats.MakeOrganization(
      std::move(organization), http::Acting(exchange, kCreateOrganization),
      Answering(exchange, [](const ExchangePtr& to, const MadeOrganization& made) {
        if (!made.is_new && !made.same) return to->Reply(OrganizationExists(made.organization));
        to->ReplyJson(OrganizationJson(made.organization), made.is_new ? 201 : 200);
      }));
}

void ChangeOrganization(const RouteParts& parts, const ExchangePtr& exchange) {
  OrganizationChange change;
  change.id = OrganizationOf(exchange);
  JsonFields fields(exchange->request().body);
  change.name = fields.OptionalText("name", kMaxNameBytes);
  change.contact_email = fields.OptionalText("contact_email", kMaxNameBytes);
  change.metadata = fields.OptionalObject("metadata", kMaxMetadataBytes);
  if (change.name && change.name->empty()) fields.Refuse("name", "must not be empty");
  http::ReadReason(exchange, fields);
  fields.Finish();
  parts.seats.ChangeOrganization(
      std::move(change), http::Acting(exchange, kChangeOrganization),
      Answering(exchange, [](const ExchangePtr& to, const ChangedOrganization& changed) {
        if (!changed.organization) return to->Reply(UnknownOrganization());
        to->ReplyJson(OrganizationJson(*changed.organization));
      }));
}

void ListOrganizations(const RouteParts& parts, const ExchangePtr& exchange) {
  OrganizationsRequest request;
  request.id = SeenTenant(exchange);
  QueryFields fields(exchange->request().query);
  request.after = fields.Text("cursor", kMaxOrganizationBytes).value_or("");
  request.limit = fields.PageLimit();
  fields.Finish();
  parts.seats.ListOrganizations(std::move(request), exchange->caller(),
                                Answering(exchange, OrganizationsJson));
}

void GetOrganization(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const std::string id = OrganizationOf(exchange);
  if (!MayNameAny(exchange) && id != http::TenantOf(exchange))
    return exchange->Reply(UnknownOrganization());
  OrganizationsRequest request;
  request.id = id;
  request.limit = 1;
  parts.seats.ListOrganizations(
      std::move(request), exchange->caller(),
      Answering(exchange, [](const ExchangePtr& to, const db::Page<Organization>& page) {
        if (page.rows.empty()) return to->Reply(UnknownOrganization());
        to->ReplyJson(OrganizationJson(page.rows.front()));
      }));
}

}  // namespace

void AddOrganizationRoutes(http::Router& router, const RouteParts& parts) {
  using http::Method;
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1", .rate_class = "seats"})
      .Add(
          {{Method::kPost,
            "/organizations",
            "createOrganization",
            "admin",
            CreateOrganization,
            "",
            {kCreateOrganization}},
           {Method::kGet, "/organizations", "listOrganizations", kReadLicenses, ListOrganizations},
           {Method::kGet, "/organizations/{id}", "getOrganization", kReadLicenses, GetOrganization},
           {Method::kPatch,
            "/organizations/{id}",
            "changeOrganization",
            "admin",
            ChangeOrganization,
            "",
            {kChangeOrganization}}});
}

}  // namespace tenure::seats
