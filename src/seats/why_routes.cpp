// Why a seat or a licence is as it is.
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "seats/explain.hpp"
#include "seats/operator.hpp"
#include "seats/problems.hpp"
#include "seats/routes.hpp"

namespace tenure::seats {
namespace {

using http::Answering;
using http::ExchangePtr;

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kMostLookedAt = 1'000;

void ReplyWhy(const ExchangePtr& exchange, const explain::Explanation& why) {
  exchange->ReplyJson(explain::ToJson(why, *exchange->request().principal));
}

void SayWhySeat(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.seats.FindHolding(
      {SeenTenant(exchange), PathUuid(exchange, 0, "session_id")}, exchange->caller(),
      Answering(exchange, [](const ExchangePtr& to, const FindHoldingReply& reply) {
        if (!reply.holding) return to->Reply(UnknownSession());
        ReplyWhy(to, Explain(*reply.holding));
      }));
}

LogRequest LastHour(const LicenseStory& story, LogKind kind) {
  return {.license = story.view.license.id,
          .kind = std::string(ToText(kind)),
          .since_ms = story.view.now_ms - kHourMs,
          .limit = kMostLookedAt};
}

// One look after the other: the licence, its holders, and two kinds of entries of its log.

void LookAtResumes(const RouteParts& parts, const ExchangePtr& exchange, LicenseStory story) {
  const LogRequest request = LastHour(story, LogKind::kSeatResumed);
  parts.seats.ListLog(
      request, exchange->caller(),
      Answering(exchange, [story = std::move(story)](const ExchangePtr& to,
                                                     const db::Page<LogEntry>& page) mutable {
        story.NoteResumes(page.rows);
        ReplyWhy(to, Explain(story));
      }));
}

void LookAtDenials(const RouteParts& parts, const ExchangePtr& exchange, LicenseStory story) {
  const LogRequest request = LastHour(story, LogKind::kSeatDenied);
  parts.seats.ListLog(
      request, exchange->caller(),
      Answering(exchange, [parts, story = std::move(story)](
                              const ExchangePtr& to, const db::Page<LogEntry>& page) mutable {
        story.NoteDenials(page.rows);
        LookAtResumes(parts, to, std::move(story));
      }));
}

void LookAtHolders(const RouteParts& parts, const ExchangePtr& exchange, LicenseStory story) {
  const HoldingsRequest request{.license = story.view.license.id,
                                .state = HoldingsRequest::State::kActive,
                                .limit = kMostLookedAt};
  parts.seats.ListHoldings(
      request, exchange->caller(),
      Answering(exchange, [parts, story = std::move(story)](
                              const ExchangePtr& to, const db::Page<ListedHolding>& page) mutable {
        if (!page.has_more) story.Note(page.rows);
        LookAtDenials(parts, to, std::move(story));
      }));
}

void SayWhyLicense(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.seats.FindLicense(
      {SeenTenant(exchange), PathUuid(exchange, 0, "id")}, exchange->caller(),
      Answering(exchange, [parts](const ExchangePtr& to, const FindLicenseReply& reply) {
        if (!reply.license) return to->Reply(UnknownLicense());
        LookAtHolders(parts, to, LicenseStory{.view = *reply.license});
      }));
}

}  // namespace

void AddWhyRoutes(http::Router& router, const RouteParts& parts) {
  using http::Method;
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/why", .rate_class = "seats"})
      .Add({{Method::kGet, "/seat/{id}", "whySeat", kReadLicenses, SayWhySeat},
            {Method::kGet, "/license/{id}", "whyLicense", kReadLicenses, SayWhyLicense}});
}

}  // namespace tenure::seats
