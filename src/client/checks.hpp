#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "client/messages/backend.hpp"
#include "tenure/jobs/job.hpp"
#include "tenure/leases/types.hpp"
#include "tenure/queues/message.hpp"
#include "tenure/seats/options.hpp"

/// What no store would take is refused before it is sent, wherever it goes: std::invalid_argument
/// that names the field. The bounds are those of the routes (tenure/leases/types.hpp,
/// messages/message.hpp).
namespace tenure::client {

void CheckLeaseName(std::string_view name);
void CheckTaskName(std::string_view name);
void CheckRequest(const leases::AcquireRequest& request);
void CheckRequest(const leases::RenewRequest& request);
void CheckRequest(const leases::BreakRequest& request);
void CheckRequest(const leases::ListRequest& request);
void CheckRequest(const leases::TaskClaim& claim);

base::Uuid TermOf(const std::string& term);
/// Everybody prints metadata as it is stored: it must be a JSON object, read as strictly as a
/// server reads it. Empty stays empty.
std::string MetadataOf(const std::string& metadata);

void CheckMessage(const messages::Message& message);
void CheckMessages(std::span<const messages::Message> messages);
void CheckClaim(const MessageClaim& claim);
void CheckSettlements(std::span<const Settlement> settlements, std::optional<Milliseconds> lease);

/// A definition's payload and headers, which go into a body as they are.
void CheckJob(const jobs::Job& job);
/// JSON text.
void CheckPayload(const std::string& payload);

void CheckSeatOptions(const seats::SeatOptions& options);

void CheckSessionMessages(std::span<const queues::SessionMessage> sent);

/// Whatever an exception said: it must only be storable, and not too long.
std::string StorableError(std::string_view error, std::size_t max_bytes);

/// The headers, with the trace context among them where there is one: that is where the SQL
/// functions and the routes look for it.
/// REQUIRES: the message was checked.
std::string HeadersWithTrace(const messages::Message& message);

/// The nominal time among the headers of a run of a job.
std::optional<std::int64_t> NominalTimeIn(const std::string& headers);

}  // namespace tenure::client
