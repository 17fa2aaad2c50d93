#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "seats/acquire_body.hpp"
#include "seats/json.hpp"
#include "seats/keys.hpp"
#include "seats/problems.hpp"
#include "seats/routes.hpp"

namespace tenure::seats {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::JsonFields;

constexpr std::size_t kMaxBeats = 10'000;
constexpr std::string_view kSpanLicense = "license.id";
constexpr std::string_view kSpanSession = "seat.session";
std::string PersonKey(const ExchangePtr& exchange) { return http::RateKey(exchange->request()); }

struct AskedSeat {
  AcquireRequest request{};
  std::string license_key{};
};

AskedSeat DecodeAcquire(const RouteParts& parts, const ExchangePtr& exchange) {
  AskedSeat asked;
  const std::int64_t received_boot_ms = parts.seats.clock().BootMs();
  JsonFields fields(exchange->request().body);
  AcquireBody body = ReadAcquire(fields);
  asked.license_key = std::move(body.license_key);
  asked.request.wait_ms = body.wait_ms;
  AcquireCommand& command = asked.request.command;
  command = std::move(body.command);
  command.received_boot_ms = received_boot_ms;
  command.tenant = http::TenantOf(exchange);
  command.person = exchange->request().principal->person;
  command.address = exchange->request().client_address;
  const std::int64_t wall_ms = parts.seats.clock().WallMs();
  command.new_session = base::Uuid::V7(wall_ms);
  command.new_ticket = base::Uuid::V7(wall_ms);
  asked.request.key_hash = HashOfKey(asked.license_key);
  asked.request.once = http::FindIdempotencyKey(exchange);
  return asked;
}

/// Answers an acquire, and counts what was refused.
struct ReplyAcquired {
  const RouteParts& parts;
  const ExchangePtr& to;
  const std::string& license_key;

  void operator()(const Grant& grant) const {
    if (to->span()) {
      to->span().Set(kSpanLicense, grant.license.ToString());
      to->span().Set(kSpanResult, grant.resumed ? "resumed" : "granted");
    }
    if (grant.picked_up) parts.seats.probe().WaitedFor(grant.waited_ms);
    to->ReplyJson(WithKey(GrantJson(grant), license_key), grant.resumed ? 200 : 201);
  }
  void operator()(const Full& full) const {
    if (to->span()) {
      to->span().Set(kSpanLicense, full.license.ToString());
      to->span().Set(kSpanResult, ToText(full.reason));
    }
    parts.seats.probe().Refused(full.reason == Full::Reason::kFull      ? Refusal::kFull
                                : full.reason == Full::Reason::kRevoked ? Refusal::kRevoked
                                                                        : Refusal::kFrozen);
    to->Reply(FullProblem(full));
  }
  void operator()(const Waiting& waiting) const {
    if (to->span()) {
      to->span().Set(kSpanLicense, waiting.license.ToString());
      to->span().Set(kSpanResult, "waiting");
    }
    to->ReplyJson(WaitingJson(waiting), 202);
  }
  void operator()(const MachineHeld& held) const {
    if (to->span()) to->span().Set(kSpanResult, "machine_held");
    parts.seats.probe().Refused(Refusal::kMachineHeld);
    to->Reply(MachineHeldProblem(held));
  }
  void operator()(const Inactive& inactive) const {
    if (to->span()) to->span().Set(kSpanResult, ToText(inactive.standing));
    parts.seats.probe().Refused(inactive.standing == Standing::kExpired ? Refusal::kExpired
                                                                        : Refusal::kInactive);
    to->Reply(InactiveProblem(inactive, parts.options.contact_support));
  }
  void operator()(const NoLicense&) const {
    if (to->span()) to->span().Set(kSpanResult, "not_found");
    parts.guards.misses.Note(PersonKey(to));
    parts.seats.probe().Refused(Refusal::kNotFound);
    to->Reply(UnknownKeyProblem());
  }
};

void Acquire(const RouteParts& parts, const ExchangePtr& exchange) {
  AskedSeat asked = DecodeAcquire(parts, exchange);
  try {
    parts.guards.misses.Check(*exchange, PersonKey(exchange));
    parts.guards.acquire.Count(*exchange,
                               PersonKey(exchange) + '\n' + asked.request.command.machine);
  } catch (const http::ProblemError&) {
    parts.seats.probe().Asked();
    parts.seats.probe().Refused(Refusal::kRateLimited);
    throw;
  }
  auto done = http::AnsweringOnce(
      exchange,
      [parts, key = asked.license_key](const ExchangePtr& to, const AcquireOutcome& outcome) {
        std::visit(ReplyAcquired{parts, to, key}, outcome);
      },
      // What is kept does not have the key: it is the request's.
      [key = asked.license_key](const ExchangePtr& to, base::StoredAnswer answer) {
        answer.body = WithKey(answer.body, key);
        http::ReplyStored(to, std::move(answer));
      });
  if (asked.request.wait_ms == 0) {
    parts.seats.Acquire(std::move(asked.request), exchange->caller(), std::move(done));
    return;
  }
  const auto request =
      parts.seats.Acquire(std::move(asked.request), exchange->caller(),
                          http::KeepingShare(exchange->BeginWait(1), std::move(done)));
  // Who has gone would be granted a seat that nobody uses.
  http::AbandonWhenGone(exchange, [&seats = parts.seats, request] { seats.Abandon(request); });
}

struct ReplyBeat {
  const ExchangePtr& to;
  const base::Uuid& session;
  std::int64_t now_ms;

  void Conclude(std::string_view result) const {
    if (to->span()) to->span().Set(kSpanResult, result);
  }
  void operator()(const Beat& beat) const {
    Conclude(beat.revived ? "revived" : "renewed");
    to->ReplyJson(BeatJson(session, beat, now_ms));
  }
  void operator()(const Lost& lost) const {
    if (to->span()) to->span().Set(kSpanResult, fmt::format("lost:{}", ToText(lost.reason)));
    to->Reply(LostProblem(lost));
  }
  void operator()(const NoSession&) const {
    Conclude("not_found");
    to->Reply(UnknownSession());
  }
  void operator()(const Unheard&) const {
    TENURE_CHECK(false, "a heartbeat that is alone is heard, or is a fault");
  }
  void operator()(const Forgotten& forgotten) const {
    Conclude("forgotten");
    to->Reply(RestoredProblem(forgotten));
  }
};

void Heartbeat(const RouteParts& parts, const ExchangePtr& exchange) {
  const std::int64_t begun = base::MeasureMicros();
  const base::Uuid session = PathUuid(exchange, 0, "session_id");
  if (!exchange->request().body.empty()) http::ExpectNoFields(exchange->request());
  // Of this person: whoever has heard of a session's id must not use up what its holder may ask.
  parts.guards.heartbeat.Count(*exchange, PersonKey(exchange) + '\n' + session.ToString());
  if (exchange->span()) exchange->span().Set(kSpanSession, session.ToString());
  parts.seats.Heartbeat(
      {http::TenantOf(exchange), exchange->request().principal->person, {session}},
      exchange->caller(),
      Answering(exchange,
                [parts, session, begun](const ExchangePtr& to, const Seats::Heartbeats& beats) {
                  parts.seats.probe().BeatTook(base::MeasureMicros() - begun);
                  if (to->span() && beats.license)
                    to->span().Set(kSpanLicense, beats.license->ToString());
                  std::visit(ReplyBeat{to, session, beats.now_ms}, beats.outcomes.front());
                }));
}

/// Of many: how many, and how many of them were lost; and of one that was, which and why.
void DescribeBeats(const ExchangePtr& to, const std::vector<base::Uuid>& sessions,
                   const Seats::Heartbeats& beats) {
  if (!to->span()) return;
  if (beats.license) to->span().Set(kSpanLicense, beats.license->ToString());
  std::int64_t lost = 0;
  std::string result = "renewed";
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const auto* const known = std::get_if<Lost>(&beats.outcomes[i]);
    if (!known && !std::holds_alternative<NoSession>(beats.outcomes[i])) continue;
    if (lost++ > 0) continue;
    to->span().Set(kSpanSession, sessions[i].ToString());
    result = fmt::format("lost:{}", known ? ToText(known->reason) : "unknown");
  }
  to->span().Set("seat.count", static_cast<std::int64_t>(sessions.size()));
  to->span().Set("seat.lost", lost);
  to->span().Set(kSpanResult, result);
}

void HeartbeatMany(const RouteParts& parts, const ExchangePtr& exchange) {
  const std::int64_t begun = base::MeasureMicros();
  std::vector<base::Uuid> sessions;
  {
    JsonFields fields(exchange->request().body);
    sessions = fields.OptionalUuids("session_ids", kMaxBeats);
    if (!fields.Has("session_ids")) fields.Refuse("session_ids", "is required");
    fields.Finish();
  }
  parts.guards.bulk.Count(*exchange, PersonKey(exchange));
  parts.seats.Heartbeat(
      {http::TenantOf(exchange), exchange->request().principal->person, sessions},
      exchange->caller(),
      Answering(exchange,
                [parts, sessions, begun](const ExchangePtr& to, const Seats::Heartbeats& beats) {
                  parts.seats.probe().BeatTook(base::MeasureMicros() - begun);
                  DescribeBeats(to, sessions, beats);
                  to->ReplyJson(BeatsJson(sessions, beats.outcomes, beats.now_ms));
                }));
}

void Release(const RouteParts& parts, const ExchangePtr& exchange) {
  const base::Uuid session = PathUuid(exchange, 0, "session_id");
  http::ExpectNoQuery(exchange->request());
  parts.seats.Release(
      {{}, http::TenantOf(exchange), exchange->request().principal->person, session},
      exchange->caller(),
      Answering(exchange, [](const ExchangePtr& to, const ReleaseOutcome& outcome) {
        if (to->span()) {
          if (outcome.license != base::Uuid())
            to->span().Set(kSpanLicense, outcome.license.ToString());
          to->span().Set(kSpanResult, outcome.released ? "released" : "not_found");
        }
        if (!outcome.released) return to->Reply(UnknownSession());
        to->Reply(http::Response{.status = 204});
      }));
}

struct ReplyTicket {
  const ExchangePtr& to;

  void operator()(const TicketView& view) const { to->ReplyJson(TicketJson(view)); }
  void operator()(const TicketLeft&) const { to->Reply(http::Response{.status = 204}); }
  void operator()(const Inactive& inactive) const { to->Reply(LostProblem(inactive)); }
  void operator()(const NoTicket&) const { to->Reply(UnknownTicket()); }
};

TicketCommand TicketOf(const ExchangePtr& exchange, TicketCommand::Kind kind) {
  TicketCommand command;
  command.tenant = http::TenantOf(exchange);
  command.person = exchange->request().principal->person;
  command.ticket = PathUuid(exchange, 0, "ticket");
  command.kind = kind;
  return command;
}

void GetTicket(const RouteParts& parts, const ExchangePtr& exchange) {
  TicketCommand command = TicketOf(exchange, TicketCommand::Kind::kSee);
  http::QueryFields fields(exchange->request().query);
  const std::int64_t wait_ms =
      fields.Integer("wait_seconds", 0, kMaxWaitMs / 1'000).value_or(0) * 1'000;
  fields.Finish();
  auto done = Answering(exchange, [](const ExchangePtr& to, const TicketOutcome& outcome) {
    std::visit(ReplyTicket{to}, outcome);
  });
  if (wait_ms == 0)
    return parts.seats.Ticket(std::move(command), exchange->caller(), std::move(done));
  const auto request =
      parts.seats.AwaitTicket(std::move(command), wait_ms, exchange->caller(),
                              http::KeepingShare(exchange->BeginWait(1), std::move(done)));
  http::AbandonWhenGone(exchange, [&seats = parts.seats, request] { seats.Abandon(request); });
}

void LeaveTicket(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.seats.Ticket(TicketOf(exchange, TicketCommand::Kind::kLeave), exchange->caller(),
                     Answering(exchange, [](const ExchangePtr& to, const TicketOutcome& outcome) {
                       std::visit(ReplyTicket{to}, outcome);
                     }));
}

}  // namespace

base::Uuid PathUuid(const ExchangePtr& exchange, std::size_t index, const char* name) {
  const auto id = base::Uuid::Parse(exchange->request().path_parameters[index]);
  if (!id) http::RefuseField(name, "must be a UUID");
  return *id;
}

void AddUseRoutes(http::Router& router, const RouteParts& parts) {
  using http::Method;
  http::RouteGroup<RouteParts>(router, parts,
                               {.path = "/api/v1/licenses", .span_result = kSpanResult})
      .Add({{Method::kPost, "/acquire", "acquireSeat", kUse, Acquire, "Seat.Acquire"},
            {Method::kPost, "/heartbeats", "heartbeatSeats", kUse, HeartbeatMany, "Seat.Heartbeat"},
            {Method::kPatch, "/sessions/{id}/heartbeat", "heartbeatSeat", kUse, Heartbeat,
             "Seat.Heartbeat"},
            {Method::kDelete, "/sessions/{id}", "releaseSeat", kUse, Release, "Seat.Release"},
            {Method::kGet, "/tickets/{id}", "getSeatTicket", kUse, GetTicket},
            {Method::kDelete, "/tickets/{id}", "leaveSeatTicket", kUse, LeaveTicket}});
}

}  // namespace tenure::seats
