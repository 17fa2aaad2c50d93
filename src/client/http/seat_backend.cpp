#include <unordered_map>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "client/http/answer.hpp"
#include "client/http/transport.hpp"
#include "client/seats/backend.hpp"

namespace tenure::client {
namespace {

using base::JsonWriter;
using Reason = seats::NoSeat::Reason;

/// Runs `call(response)` on what was answered; every failure is a SeatCallFailed.
template <class Send, class Read>
auto SeatCall(const Send& send, const Read& read) {
  using Failed = CallFailed::Kind;
  Milliseconds retry_after{0};
  try {
    const http::ClientResponse response = send();
    retry_after = RetryAfterOf(response);
    return read(response);
  } catch (const CallFailed& failed) {
    throw SeatCallFailed(failed, retry_after);
  } catch (const base::Fault& fault) {
    throw SeatCallFailed({Failed::kUnavailable, fault.what(), fault.outcome_unknown()},
                         retry_after);
  } catch (const base::UserError& error) {
    throw SeatCallFailed({Failed::kUnavailable, error.what()}, retry_after);
  }
}

SeatGrant SeatGrantOf(json::object root, int status, const std::string& machine) {
  SeatGrant grant;
  grant.seat.session_id = Text(root, "session_id");
  grant.seat.license_id = Text(root, "license_id");
  grant.seat.fence = Integer(root, "fence");
  grant.seat.machine_id = machine;
  grant.seat.started_at_ms = Time(root, "started_at");
  grant.seat.expires_at_ms = Time(root, "expires_at");
  grant.seat.seats_used = OptionalInteger(root, "seats_used");
  grant.seat.seats_remaining = OptionalInteger(root, "seats_remaining");
  grant.seat.resumed = status == 200;
  grant.remaining = Milliseconds(Integer(root, "remaining_ms"));
  grant.waited = Milliseconds(Integer(root, "waited_ms"));
  return grant;
}

struct SeatProblem {
  std::string type{};
  std::string reason{};
  std::string ticket{};
  seats::NoSeat why{};
};

SeatProblem SeatProblemOf(const http::ClientResponse& response) {
  return Reading(response, [&](json::object root) {
    SeatProblem problem;
    problem.type = ProblemOf(root);
    problem.reason = OptionalText(root, "reason");
    problem.ticket = OptionalText(root, "ticket");
    problem.why.detail = OptionalText(root, "detail");
    problem.why.seats_total = OptionalInteger(root, "seats_total");
    problem.why.position = OptionalInteger(root, "position");
    problem.why.retry_after = Milliseconds(OptionalInteger(root, "retry_after_seconds") * 1'000);
    return problem;
  });
}

Reason InUseReason(std::string_view reason) {
  if (reason == "revoked") return Reason::kRevoked;
  if (reason == "frozen") return Reason::kFrozen;
  return Reason::kInUse;
}

/// Only what Tenure itself refuses is final: a proxy's 404 knows nothing of licences.
SeatAnswer SeatRefusalOf(const http::ClientResponse& response) {
  SeatProblem problem = SeatProblemOf(response);
  const auto denied = [&](Reason reason) {
    problem.why.reason = reason;
    return SeatDenied{std::move(problem.why)};
  };
  if (problem.type == "seats-in-use") {
    problem.why.reason = InUseReason(problem.reason);
    return SeatsInUse{std::move(problem.why), std::move(problem.ticket)};
  }
  if (problem.type == "license-expired") return denied(Reason::kExpired);
  if (problem.type == "license-not-found") return denied(Reason::kNotFound);
  if (problem.type == "machine-held") return denied(Reason::kMachineHeld);
  if (response.status == 422 && !problem.type.empty()) return denied(Reason::kRefused);
  Refuse(response);
}

SeatAnswer ReadSeatAnswer(const http::ClientResponse& response, const std::string& machine) {
  switch (response.status) {
    case 200:
    case 201:
      return Reading(response, [&](json::object root) {
        return SeatAnswer(SeatGrantOf(root, response.status, machine));
      });
    case 202:
      return Reading(response, [](json::object root) {
        SeatTicket ticket;
        ticket.ticket = Text(root, "ticket");
        ticket.position = Integer(root, "position");
        return SeatAnswer(std::move(ticket));
      });
    default:
      return SeatRefusalOf(response);
  }
}

BeatAnswer ReadOneBeat(const http::ClientResponse& response) {
  if (response.status == 200)
    return Reading(response, [](json::object root) {
      return BeatAnswer(SeatBeat{Milliseconds(Integer(root, "remaining_ms"))});
    });
  if (response.status == 404 || response.status == 410) {
    const SeatProblem problem = SeatProblemOf(response);
    if (problem.type == "seat-lost")
      return SeatGone{ParseSeatLoss(problem.reason), problem.why.detail};
    if (problem.type == "not-found")
      return SeatGone{seats::LossReason::kUnknown, problem.why.detail};
  }
  Refuse(response);
}

/// Whatever is neither alive nor lost was not heard of.
std::vector<BeatAnswer> ReadBeats(const http::ClientResponse& response,
                                  std::span<const std::string> sessions) {
  return Reading(response, {200}, [&](json::object root) {
    std::unordered_map<std::string, BeatAnswer> by_session;
    for (auto item : root["alive"].get_array()) {
      json::object alive = item.get_object();
      std::string session = Text(alive, "session_id");
      by_session.insert_or_assign(std::move(session),
                                  SeatBeat{Milliseconds(Integer(alive, "remaining_ms"))});
    }
    for (auto item : root["lost"].get_array()) {
      json::object lost = item.get_object();
      std::string session = Text(lost, "session_id");
      by_session.insert_or_assign(std::move(session),
                                  SeatGone{ParseSeatLoss(Text(lost, "reason")), {}});
    }
    std::vector<BeatAnswer> answers;
    for (const std::string& session : sessions) {
      const auto found = by_session.find(session);
      answers.push_back(found == by_session.end() ? BeatAnswer(SeatUnheard{}) : found->second);
    }
    return answers;
  });
}

std::string SessionPath(std::string_view session, std::string_view behind) {
  return fmt::format("/api/v1/licenses/sessions/{}{}", Encoded(session), behind);
}

std::string AcquireBody(const SeatRequest& request) {
  return JsonBody([&](JsonWriter& json) {
    json.Field("license_key", std::string_view(request.license_key))
        .Field("machine_id", std::string_view(request.machine_id))
        .Field("user_agent", std::string_view(request.user_agent));
    if (!request.metadata.empty()) json.Key("metadata").Raw(request.metadata);
    if (!request.former_session.empty())
      json.Field("former_session_id", std::string_view(request.former_session));
    if (request.wait_seconds > 0) json.Field("wait_seconds", request.wait_seconds);
  });
}

/// Heartbeats and releases have connections of their own: none waits behind a request that stands in
/// line.
class HttpSeats final : public SeatBackend {
 public:
  explicit HttpSeats(const ServerAddress& address) : asking_(address), keeping_(address) {}

  SeatAnswer Acquire(const SeatRequest& request, Milliseconds timeout,
                     const std::stop_token& stop) override {
    const Milliseconds limit = timeout + Milliseconds(request.wait_seconds * 1'000);
    return SeatCall(
        [&] {
          return asking_.Send(http::Method::kPost, "/api/v1/licenses/acquire", AcquireBody(request),
                              limit, stop, {{"Idempotency-Key", request.once}});
        },
        [&](const http::ClientResponse& response) {
          return ReadSeatAnswer(response, request.machine_id);
        });
  }

  /// One by itself is told why it is lost, and counts for its own seat alone where heartbeats are
  /// limited.
  std::vector<BeatAnswer> Beat(std::span<const std::string> sessions, Milliseconds timeout,
                               const std::stop_token& stop) override {
    if (sessions.size() == 1)
      return SeatCall(
          [&] {
            return keeping_.Send(http::Method::kPatch, SessionPath(sessions.front(), "/heartbeat"),
                                 {}, timeout, stop);
          },
          [](const http::ClientResponse& response) { return std::vector{ReadOneBeat(response)}; });
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Key("session_ids").BeginArray();
      for (const std::string& session : sessions) json.Value(std::string_view(session));
      json.EndArray();
    });
    return SeatCall(
        [&] { return keeping_.Post("/api/v1/licenses/heartbeats", body, timeout, stop); },
        [&](const http::ClientResponse& response) { return ReadBeats(response, sessions); });
  }

  bool Release(const std::string& session, Milliseconds timeout,
               const std::stop_token& stop) override {
    return SeatCall(
        [&] {
          return keeping_.Send(http::Method::kDelete, SessionPath(session, ""), {}, timeout, stop);
        },
        [](const http::ClientResponse& response) {
          if (response.status == 204) return true;
          if (response.status == 404 && SeatProblemOf(response).type == "not-found") return false;
          Refuse(response);
        });
  }

  void LeaveLine(const std::string& ticket, Milliseconds timeout) override {
    SeatCall(
        [&] {
          return keeping_.Send(http::Method::kDelete,
                               fmt::format("/api/v1/licenses/tickets/{}", Encoded(ticket)), {},
                               timeout);
        },
        [](const http::ClientResponse& response) { return response.status; });
  }

 private:
  Transport asking_;
  Transport keeping_;
};

}  // namespace

seats::LossReason ParseSeatLoss(std::string_view text) {
  using seats::LossReason;
  for (const LossReason reason :
       {LossReason::kExpired, LossReason::kReleased, LossReason::kResumedElsewhere,
        LossReason::kRevoked, LossReason::kLicenseSuspended, LossReason::kLicenseRevoked,
        LossReason::kLicenseExpired})
    if (text == seats::ToText(reason)) return reason;
  return LossReason::kUnknown;
}

std::shared_ptr<SeatBackend> MakeHttpSeats(const ServerAddress& address) {
  return std::make_shared<HttpSeats>(address);
}

}  // namespace tenure::client
