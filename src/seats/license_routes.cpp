#include <fmt/format.h>

#include "base/log.hpp"
#include "base/tenant.hpp"
#include "http/answering.hpp"
#include "http/expected_revision.hpp"
#include "http/fences.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "seats/json.hpp"
#include "seats/keys.hpp"
#include "seats/operator.hpp"
#include "seats/problems.hpp"
#include "seats/routes.hpp"

namespace tenure::seats {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::Problem;
using http::QueryFields;

constexpr std::int64_t kSecondMs = 1'000;
constexpr std::int64_t kDefaultOverlapSeconds = 30 * 86'400;
constexpr std::int64_t kMaxOverlapSeconds = 3'660 * 86'400LL;

constexpr const char* kCreateLicense = "license.create";
constexpr const char* kChangeLicense = "license.change";
constexpr const char* kRevokeLicense = "license.revoke";
constexpr const char* kRotateKey = "license.rotate_key";

/// One that a request names, as it is on record: an organisation is a tenant.
std::optional<std::string> OptionalOrganization(JsonFields& fields, std::string_view name) {
  auto text = fields.OptionalText(name, kMaxOrganizationBytes);
  if (!text) return text;
  auto organization = base::CanonicalTenant(*text);
  if (!organization) fields.Refuse(name, kNoOrganization);
  return organization;
}

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
  http::ReadReason(exchange, fields);
  fields.Finish();
  license.tenant = OrganizationOr(exchange, std::move(organization));
  license.id = base::Uuid::V7(wall_ms);
  license.key_hint = HintOfKey(made.key);
  made.request.key_hash = HashOfKey(made.key);
  made.request.by = PersonOf(exchange);
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
      return to->Reply(
          Problem{.status = 409,
                  .type = "license-revoked",
                  .title = "The licence was revoked",
                  .detail = "The licence was revoked, and that is final. Make a new one."});
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
  command.by = PersonOf(exchange);
  Administrate(parts, exchange, std::move(command), kChangeLicense);
}

void RevokeLicense(const RouteParts& parts, const ExchangePtr& exchange) {
  RevokeLicenseCommand command;
  command.license = PathUuid(exchange, 0, "id");
  command.tenant = SeenTenant(exchange);
  JsonFields fields(exchange->request().body);
  command.reason = fields.OptionalText("reason", kMaxReasonBytes).value_or("");
  fields.Finish();
  command.by = PersonOf(exchange);
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
  http::ReadReason(exchange, fields);
  fields.Finish();
  command.key_hash = HashOfKey(key);
  command.key_hint = HintOfKey(key);
  command.by = PersonOf(exchange);
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

}  // namespace

void AddLicenseRoutes(http::Router& router, const RouteParts& parts) {
  using http::Method;
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1", .rate_class = "seats"})
      .Add({{Method::kPost,
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
             {kRotateKey}}});
}

}  // namespace tenure::seats
