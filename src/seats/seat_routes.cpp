#include <algorithm>
#include <charconv>

#include "base/log.hpp"
#include "base/time_text.hpp"
#include "http/answering.hpp"
#include "http/fences.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "seats/json.hpp"
#include "seats/kept_there.hpp"
#include "seats/operator.hpp"
#include "seats/problems.hpp"
#include "seats/routes.hpp"

namespace tenure::seats {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;
using http::QueryFields;

constexpr std::size_t kMaxLogKindBytes = 50;

constexpr const char* kRevokeSeat = "seat.revoke";
constexpr const char* kRemoveTicket = "seat.remove_ticket";

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
  command.by = PersonOf(exchange);
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
  http::ExpectQueryReasonAlone(exchange);
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

void AddSeatRoutes(http::Router& router, const RouteParts& parts) {
  using http::Method;
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1", .rate_class = "seats"})
      .Add({{Method::kGet, "/licenses/{id}/sessions", "listSeatSessions", kReadLicenses,
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
