#include <charconv>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/tenant.hpp"
#include "base/time_text.hpp"
#include "http/answering.hpp"
#include "http/expected_revision.hpp"
#include "http/fences.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "seats/json.hpp"
#include "seats/kept_there.hpp"
#include "seats/keys.hpp"
#include "seats/problems.hpp"
#include "seats/routes.hpp"

namespace tenure::seats {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Problem;
using http::QueryFields;

constexpr std::size_t kMaxNameBytes = 200;
constexpr std::size_t kMaxOrganizationBytes = 200;
constexpr std::size_t kMaxReasonBytes = 500;
constexpr std::size_t kMaxLogKindBytes = 50;
constexpr std::int64_t kSecondMs = 1'000;
constexpr std::int64_t kDefaultOverlapSeconds = 30 * 86'400;
constexpr std::int64_t kMaxOverlapSeconds = 3'660 * 86'400LL;

constexpr const char* kCreateLicense = "license.create";
constexpr const char* kChangeLicense = "license.change";
constexpr const char* kRevokeLicense = "license.revoke";
constexpr const char* kRotateKey = "license.rotate_key";
constexpr const char* kRevokeSeat = "seat.revoke";
constexpr const char* kRemoveTicket = "seat.remove_ticket";
constexpr const char* kCreateOrganization = "organization.create";
constexpr const char* kChangeOrganization = "organization.change";

/// Whether organisations other than the asker's own may be named.
bool MayNameAny(const ExchangePtr& exchange) {
  const http::Principal& who = *exchange->request().principal;
  return !who.tenant || who.Has("admin");
}

const std::string& Person(const ExchangePtr& exchange) {
  return exchange->request().principal->person;
}

[[noreturn]] void RefuseOrganization() {
  throw http::ProblemError({.status = 403,
                            .type = "forbidden",
                            .title = "The token does not allow this",
                            .detail = "Another organisation can be named with the scope admin."});
}

constexpr const char* kNoOrganization =
    "must be 1 to 200 bytes without control characters, and not the nil UUID";

/// One that a request names, as it is on record: an organisation is a tenant.
std::optional<std::string> OptionalOrganization(JsonFields& fields, std::string_view name) {
  auto text = fields.OptionalText(name, kMaxOrganizationBytes);
  if (!text) return text;
  auto organization = base::CanonicalTenant(*text);
  if (!organization) fields.Refuse(name, kNoOrganization);
  return organization;
}

/// That of the path.
std::string OrganizationOf(const ExchangePtr& exchange) {
  const std::string& id = exchange->request().path_parameters[0];
  return base::CanonicalTenant(id).value_or(id);
}

std::string OrganizationOr(const ExchangePtr& exchange, std::optional<std::string> named) {
  const std::string own = http::TenantOf(exchange);
  if (!named || *named == own) return own;
  if (!MayNameAny(exchange)) RefuseOrganization();
  return *std::move(named);
}

/// A decimal number that a page ended with.
std::optional<std::int64_t> NumberCursor(QueryFields& fields) {
  return fields.Parsed("cursor", 20, http::kNoCursor,
                       [](const std::string& text) -> std::optional<std::int64_t> {
                         std::int64_t number = 0;
                         const char* const end = text.data() + text.size();
                         const auto [stop, error] = std::from_chars(text.data(), end, number);
                         if (error != std::errc() || stop != end || number < 0) return std::nullopt;
                         return number;
                       });
}

// Organisations

Problem OrganizationExists(const Organization& organization) {
  return {
      .status = 409,
      .type = "organization-exists",
      .title = "The organisation is there, and is another",
      .detail = fmt::format("The organisation {} has another name, contact or metadata. Change it "
                            "with PATCH.",
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

// Licences

Problem KeyTaken() {
  return {.status = 409,
          .type = "license-key-taken",
          .title = "The key is another licence's",
          .detail = "A licence of this organisation has this key, or had it."};
}

/// The key of a new licence or of a rotation: given, or made.
std::string ReadKey(JsonFields& fields, std::string_view prefix, std::int64_t wall_ms) {
  auto given = fields.OptionalText("license_key", kMaxKeyBytes);
  if (!given) return MakeKey(prefix, wall_ms);
  if (!IsKeyText(*given))
    fields.Refuse("license_key", "must be 8 to 200 printable ASCII characters");
  return *std::move(given);
}

/// A time, or null for none; nothing when it is not there.
std::optional<std::int64_t> OptionalBound(JsonFields& fields, std::string_view name) {
  if (fields.IsNull(name)) return 0;
  return fields.OptionalTime(name);
}

std::optional<std::int64_t> Milliseconds(std::optional<std::int64_t> seconds) {
  if (!seconds) return std::nullopt;
  return *seconds * kSecondMs;
}

struct NewLicense {
  CreateRequest request{};
  std::string key{};
};

NewLicense DecodeLicense(const RouteParts& parts, const ExchangePtr& exchange) {
  const std::int64_t wall_ms = parts.seats.clock().WallMs();
  NewLicense made;
  LicenseRow& license = made.request.license;
  JsonFields fields(exchange->request().body);
  auto organization = OptionalOrganization(fields, "organization");
  license.name = fields.OptionalText("name", kMaxNameBytes).value_or("");
  license.seats = fields.Integer("seats", 1, kMaxSeats);
  license.ttl_ms = Milliseconds(fields.OptionalInteger("ttl_seconds", kMinTtlMs / kSecondMs,
                                                       kMaxTtlMs / kSecondMs))
                       .value_or(parts.options.ttl_ms);
  license.interval_ms =
      Milliseconds(fields.OptionalInteger("heartbeat_interval_seconds", 1, kMaxTtlMs / kSecondMs))
          .value_or(license.ttl_ms / 2);
  if (license.interval_ms > license.ttl_ms / 2)
    fields.Refuse("heartbeat_interval_seconds", "must be at most half of ttl_seconds");
  license.grace_ms =
      Milliseconds(fields.OptionalInteger("grace_seconds", 0, kMaxGraceMs / kSecondMs)).value_or(0);
  license.valid_from_ms = OptionalBound(fields, "valid_from").value_or(0);
  license.valid_until_ms = OptionalBound(fields, "valid_until").value_or(0);
  if (license.valid_until_ms > 0 && license.valid_until_ms <= license.valid_from_ms)
    fields.Refuse("valid_until", "must be after valid_from");
  const std::string prefix =
      fields.OptionalText("prefix", kMaxPrefixBytes).value_or(parts.options.key_prefix);
  if (!IsKeyPrefix(prefix)) fields.Refuse("prefix", "must be 1 to 20 of A-Z 0-9");
  license.metadata = fields.OptionalObject("metadata", kMaxMetadataBytes).value_or("");
  made.key = ReadKey(fields, prefix, wall_ms);
  fields.Finish();
  license.tenant = OrganizationOr(exchange, std::move(organization));
  license.id = base::Uuid::V7(wall_ms);
  license.key_hint = HintOfKey(made.key);
  made.request.key_hash = HashOfKey(made.key);
  made.request.by = Person(exchange);
  return made;
}

/// With the key, this once.
void ReplyCreated(const ExchangePtr& to, const CreateReply& reply, const std::string& key) {
  if (!reply.license) return to->Reply(KeyTaken());
  http::Response response{.status = 201,
                          .body = WithKey(LicenseJson(*reply.license, {}, reply.now_ms), key)};
  response.headers.emplace_back("Location", "/api/v1/licenses/" + reply.license->id.ToString());
  to->Reply(std::move(response));
}

void CreateLicense(const RouteParts& parts, const ExchangePtr& exchange) {
  NewLicense made = DecodeLicense(parts, exchange);
  const auto first = [key = made.key](const ExchangePtr& to, const CreateReply& reply) {
    ReplyCreated(to, reply, key);
  };
  if (auto once = http::FindIdempotencyKey(exchange))
    return parts.seats.CreateOnce(std::move(made.request), *std::move(once),
                                  http::Acting(exchange, kCreateLicense),
                                  http::AnsweringOnce(exchange, first));
  parts.seats.Create(std::move(made.request), http::Acting(exchange, kCreateLicense),
                     Answering(exchange, first));
}

void ReplyAdministered(const ExchangePtr& to, const AdminOutcome& outcome) {
  switch (outcome.kind) {
    case AdminOutcome::Kind::kDone:
      return to->ReplyJson(
          LicenseJson(outcome.license, {outcome.offered, outcome.waiting}, outcome.now_ms));
    case AdminOutcome::Kind::kNoLicense:
      return to->Reply(UnknownLicense());
    case AdminOutcome::Kind::kOtherRevision:
      return to->Reply(
          Problem{.status = 412,
                  .type = "license-changed",
                  .title = "The licence was changed meanwhile",
                  .detail = fmt::format("Its revision is {}. Look at it, and change it again.",
                                        outcome.license.revision)});
    case AdminOutcome::Kind::kRevoked:
      return to->Reply(Problem{.status = 409,
                               .type = "license-revoked",
                               .title = "The licence was revoked",
                               .detail = "That is final. Make a new licence."});
    case AdminOutcome::Kind::kKeyTaken:
      return to->Reply(KeyTaken());
    case AdminOutcome::Kind::kRefused:
      return to->Reply(http::InvalidRequest({{outcome.refused_field, outcome.refused}}));
  }
}

/// Carries out what an operator wants of one licence, once under an idempotency key.
void Administrate(const RouteParts& parts, const ExchangePtr& exchange, Command command,
                  const char* act) {
  if (auto once = http::FindIdempotencyKey(exchange))
    return parts.seats.SettleOnce(
        std::move(command), *std::move(once), http::Acting(exchange, act),
        http::AnsweringOnce(exchange, [](const ExchangePtr& to, const Outcome& outcome) {
          ReplyAdministered(to, std::get<AdminOutcome>(outcome));
        }));
  parts.seats.Settle<AdminOutcome>(std::move(command), http::Acting(exchange, act),
                                   Answering(exchange, ReplyAdministered));
}

void ChangeLicense(const RouteParts& parts, const ExchangePtr& exchange) {
  ChangeCommand command;
  command.license = PathUuid(exchange, 0, "id");
  command.tenant = SeenTenant(exchange);
  command.if_revision = http::ExpectedRevision(exchange->request());
  JsonFields fields(exchange->request().body);
  command.seats = fields.OptionalInteger("seats", 0, kMaxSeats);
  command.suspended = fields.OptionalFlag("suspended");
  command.ttl_ms = Milliseconds(
      fields.OptionalInteger("ttl_seconds", kMinTtlMs / kSecondMs, kMaxTtlMs / kSecondMs));
  command.interval_ms =
      Milliseconds(fields.OptionalInteger("heartbeat_interval_seconds", 1, kMaxTtlMs / kSecondMs));
  command.grace_ms =
      Milliseconds(fields.OptionalInteger("grace_seconds", 0, kMaxGraceMs / kSecondMs));
  command.valid_from_ms = OptionalBound(fields, "valid_from");
  command.valid_until_ms = OptionalBound(fields, "valid_until");
  command.name = fields.OptionalText("name", kMaxNameBytes);
  command.metadata = fields.OptionalObject("metadata", kMaxMetadataBytes);
  command.reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  fields.Finish();
  command.by = Person(exchange);
  Administrate(parts, exchange, std::move(command), kChangeLicense);
}

void RevokeLicense(const RouteParts& parts, const ExchangePtr& exchange) {
  RevokeLicenseCommand command;
  command.license = PathUuid(exchange, 0, "id");
  command.tenant = SeenTenant(exchange);
  JsonFields fields(exchange->request().body);
  command.reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  fields.Finish();
  command.by = Person(exchange);
  base::LogWarn("seats.revoke_license", "a licence is revoked",
                {{"license", command.license.ToString()},
                 {"person", command.by},
                 {"reason", command.reason},
                 {"request_id", exchange->request().request_id}});
  Administrate(parts, exchange, std::move(command), kRevokeLicense);
}

/// The answer with the key, this once; a repetition has null there.
std::string RotatedJson(const AdminOutcome& outcome, const std::string* key) {
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Key("license_key");
  key ? json.Value(std::string_view(*key)) : json.Null();
  WriteLicense(json, outcome.license, {outcome.offered, outcome.waiting}, outcome.now_ms);
  json.EndObject();
  return body;
}

void RotateKey(const RouteParts& parts, const ExchangePtr& exchange) {
  RotateKeyCommand command;
  command.license = PathUuid(exchange, 0, "id");
  command.tenant = SeenTenant(exchange);
  JsonFields fields(exchange->request().body);
  const std::string key = ReadKey(fields, parts.options.key_prefix, parts.seats.clock().WallMs());
  command.overlap_ms = fields.OptionalInteger("overlap_seconds", 0, kMaxOverlapSeconds)
                           .value_or(kDefaultOverlapSeconds) *
                       kSecondMs;
  fields.Finish();
  command.key_hash = HashOfKey(key);
  command.key_hint = HintOfKey(key);
  command.by = Person(exchange);
  const auto first = [key](const ExchangePtr& to, const AdminOutcome& outcome) {
    if (outcome.kind != AdminOutcome::Kind::kDone) return ReplyAdministered(to, outcome);
    to->ReplyJson(RotatedJson(outcome, &key));
  };
  if (auto once = http::FindIdempotencyKey(exchange))
    return parts.seats.SettleOnce(std::move(command), *std::move(once),
                                  http::Acting(exchange, kRotateKey),
                                  http::AnsweringOnce(
                                      exchange,
                                      [first](const ExchangePtr& to, const Outcome& outcome) {
                                        first(to, std::get<AdminOutcome>(outcome));
                                      },
                                      [](const ExchangePtr& to, base::StoredAnswer answer) {
                                        if (answer.body.starts_with('{'))
                                          answer.body.replace(0, 1, R"({"license_key":null,)");
                                        http::ReplyStored(to, std::move(answer));
                                      }));
  parts.seats.Settle<AdminOutcome>(std::move(command), http::Acting(exchange, kRotateKey),
                                   Answering(exchange, first));
}

void ListLicenses(const RouteParts& parts, const ExchangePtr& exchange) {
  LicensesRequest request;
  QueryFields fields(exchange->request().query);
  const auto organization =
      fields.Parsed("organization", kMaxOrganizationBytes, kNoOrganization, base::CanonicalTenant);
  request.state = fields.Parsed(
      "state", 20, "must be active, suspended, revoked, expired or not_yet_valid",
      [](const std::string& text) {
        return http::OneOf(text, {Standing::kActive, Standing::kSuspended, Standing::kRevoked,
                                  Standing::kExpired, Standing::kNotYetValid});
      });
  request.key_hint = fields.Text("key_hint", 10).value_or("");
  request.after = fields.Uuid("cursor").value_or(base::Uuid());
  request.limit = fields.PageLimit();
  fields.Finish();
  request.tenant = organization ? OrganizationOr(exchange, organization) : SeenTenant(exchange);
  parts.seats.ListLicenses(std::move(request), exchange->caller(),
                           Answering(exchange, LicensesJson));
}

void GetLicense(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.seats.FindLicense(
      {SeenTenant(exchange), PathUuid(exchange, 0, "id")}, exchange->caller(),
      Answering(exchange, [](const ExchangePtr& to, const FindLicenseReply& reply) {
        if (!reply.license) return to->Reply(UnknownLicense());
        to->ReplyJson(LicenseViewJson(*reply.license));
      }));
}

/// Goes on with `then` when the licence of the path is one that the asker may see.
template <class Then>
void WithLicense(const RouteParts& parts, const ExchangePtr& exchange, Then then) {
  parts.seats.FindLicense(
      {SeenTenant(exchange), PathUuid(exchange, 0, "id")}, exchange->caller(),
      Answering(exchange, [then = std::move(then)](const ExchangePtr& to,
                                                   const FindLicenseReply& reply) mutable {
        if (!reply.license) return to->Reply(UnknownLicense());
        then(to);
      }));
}

void ListSessions(const RouteParts& parts, const ExchangePtr& exchange) {
  HoldingsRequest request;
  request.license = PathUuid(exchange, 0, "id");
  QueryFields fields(exchange->request().query);
  using State = HoldingsRequest::State;
  request.state = fields
                      .Parsed("state", 10, "must be active, lapsed or ended",
                              [](const std::string& text) -> std::optional<State> {
                                if (text == "active") return State::kActive;
                                if (text == "lapsed") return State::kLapsed;
                                if (text == "ended") return State::kEnded;
                                return std::nullopt;
                              })
                      .value_or(State::kStanding);
  request.machine = fields.Text("machine_id", kMaxMachineBytes).value_or("");
  request.person = fields.Text("person", kMaxMachineBytes);
  request.before = NumberCursor(fields).value_or(kNever);
  request.limit = fields.PageLimit();
  fields.Finish();
  WithLicense(parts, exchange, [parts, request](const ExchangePtr& to) {
    parts.seats.ListHoldings(
        request, to->caller(),
        Answering(to, [parts](const ExchangePtr& of, const db::Page<ListedHolding>& page) {
          std::vector<Holding> holdings;
          for (const ListedHolding& each : page.rows) holdings.push_back(each.holding);
          AddKnownThere(
              parts.seats.path(), std::move(holdings), of->caller().home,
              [of, page = db::Page<ListedHolding>(page)](std::vector<Holding> known) mutable {
                for (std::size_t i = 0; i < known.size(); ++i)
                  page.rows[i].holding = std::move(known[i]);
                of->ReplyJson(HoldingsJson(page));
              });
        }));
  });
}

void ListTickets(const RouteParts& parts, const ExchangePtr& exchange) {
  TicketsRequest request;
  request.license = PathUuid(exchange, 0, "id");
  QueryFields fields(exchange->request().query);
  request.after = NumberCursor(fields).value_or(0);
  request.limit = fields.PageLimit();
  fields.Finish();
  WithLicense(parts, exchange, [parts, request](const ExchangePtr& to) {
    parts.seats.ListTickets(request, to->caller(), Answering(to, TicketsJson));
  });
}

void ListLog(const RouteParts& parts, const ExchangePtr& exchange) {
  LogRequest request;
  request.license = PathUuid(exchange, 0, "id");
  QueryFields fields(exchange->request().query);
  const std::int64_t from = fields.Integer("from", 0, http::kMaxFence).value_or(0);
  request.from = std::max(from, NumberCursor(fields).value_or(0));
  request.kind = fields.Text("kind", kMaxLogKindBytes).value_or("");
  request.since_ms = fields
                         .Parsed("since", 40, "must be a time of RFC 3339",
                                 [](const std::string& text) { return base::ParseRfc3339Ms(text); })
                         .value_or(0);
  request.limit = fields.PageLimit();
  fields.Finish();
  WithLicense(parts, exchange, [parts, request](const ExchangePtr& to) {
    parts.seats.ListLog(request, to->caller(), Answering(to, LogJson));
  });
}

void GetSession(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.seats.FindHolding(
      {SeenTenant(exchange), PathUuid(exchange, 0, "session_id")}, exchange->caller(),
      Answering(exchange, [parts](const ExchangePtr& to, const FindHoldingReply& reply) {
        if (!reply.holding) return to->Reply(UnknownSession());
        AddKnownThere(
            parts.seats.path(), {*reply.holding}, to->caller().home,
            [to](const std::vector<Holding>& known) { to->ReplyJson(HoldingJson(known.front())); });
      }));
}

void RevokeSession(const RouteParts& parts, const ExchangePtr& exchange) {
  RevokeSeatCommand command;
  command.session = PathUuid(exchange, 0, "session_id");
  command.tenant = SeenTenant(exchange);
  JsonFields fields(exchange->request().body);
  command.reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  command.force = fields.OptionalFlag("force").value_or(false);
  fields.Finish();
  command.by = Person(exchange);
  base::LogWarn("seats.revoke", "an operator revokes a seat",
                {{"session", command.session.ToString()},
                 {"person", command.by},
                 {"force", command.force},
                 {"reason", command.reason},
                 {"request_id", exchange->request().request_id}});
  const auto reply = [](const ExchangePtr& to, const RevokeSeatOutcome& outcome) {
    if (!outcome.holding) return to->Reply(UnknownSession());
    to->ReplyJson(HoldingJson(*outcome.holding));
  };
  if (auto once = http::FindIdempotencyKey(exchange))
    return parts.seats.RevokeSeatOnce(
        std::move(command), *std::move(once), http::Acting(exchange, kRevokeSeat),
        http::AnsweringOnce(exchange, [reply](const ExchangePtr& to, const Outcome& outcome) {
          reply(to, std::get<RevokeSeatOutcome>(outcome));
        }));
  parts.seats.RevokeSeat(std::move(command), http::Acting(exchange, kRevokeSeat),
                         Answering(exchange, reply));
}

void RemoveTicket(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  TicketCommand command;
  command.license = PathUuid(exchange, 0, "id");
  command.ticket = PathUuid(exchange, 1, "ticket");
  command.tenant = SeenTenant(exchange);
  command.kind = TicketCommand::Kind::kLeave;
  parts.seats.Settle<TicketOutcome>(
      std::move(command), http::Acting(exchange, kRemoveTicket),
      Answering(exchange, [](const ExchangePtr& to, const TicketOutcome& outcome) {
        if (!std::holds_alternative<TicketLeft>(outcome)) return to->Reply(UnknownTicket());
        to->Reply(http::Response{.status = 204});
      }));
}

}  // namespace

std::string SeenTenant(const ExchangePtr& exchange) {
  return MayNameAny(exchange) ? "" : http::TenantOf(exchange);
}

void AddAdminRoutes(http::Router& router, const RouteParts& parts) {
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
            {kChangeOrganization}},
           {Method::kPost,
            "/licenses",
            "createLicense",
            kAdministrate,
            CreateLicense,
            "",
            {kCreateLicense}},
           {Method::kGet, "/licenses", "listLicenses", kReadLicenses, ListLicenses},
           {Method::kGet, "/licenses/{id}", "getLicense", kReadLicenses, GetLicense},
           {Method::kPatch,
            "/licenses/{id}",
            "changeLicense",
            kAdministrate,
            ChangeLicense,
            "",
            {kChangeLicense}},
           {Method::kPost,
            "/licenses/{id}/revoke",
            "revokeLicense",
            kAdministrate,
            RevokeLicense,
            "",
            {kRevokeLicense}},
           {Method::kPost,
            "/licenses/{id}/rotate-key",
            "rotateLicenseKey",
            kAdministrate,
            RotateKey,
            "",
            {kRotateKey}},
           {Method::kGet, "/licenses/{id}/sessions", "listSeatSessions", kReadLicenses,
            ListSessions},
           {Method::kGet, "/licenses/{id}/tickets", "listSeatTickets", kReadLicenses, ListTickets},
           {Method::kGet, "/licenses/{id}/log", "listSeatLog", kReadLicenses, ListLog},
           {Method::kGet, "/licenses/sessions/{id}", "getSeatSession", kReadLicenses, GetSession},
           {Method::kPost,
            "/licenses/sessions/{id}/revoke",
            "revokeSeat",
            kOperate,
            RevokeSession,
            "",
            {kRevokeSeat}},
           {Method::kDelete,
            "/licenses/{id}/tickets/{ticket}",
            "removeSeatTicket",
            kOperate,
            RemoveTicket,
            "",
            {kRemoveTicket}}});
}

}  // namespace tenure::seats
