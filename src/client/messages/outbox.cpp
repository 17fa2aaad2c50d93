#include "tenure/messages/outbox.hpp"

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <libpq-fe.h>

#include "base/time_text.hpp"
#include "client/checks.hpp"
#include "client_sql/queries.hpp"
#include "db/postgres/error.hpp"

namespace tenure::messages {
namespace {

struct Clearer {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clearer>;

constexpr std::string_view kStaleFence = "TN001";

/// Parameters of one statement; they are kept by the caller until it was run.
template <std::size_t Count>
struct Params {
  std::array<const char*, Count> values{};
  std::array<int, Count> lengths{};
  std::array<int, Count> formats{};  // 0: text
};

template <std::size_t Count>
Result Run(PGconn& connection, const db::Query& query, const Params<Count>& params) {
  return Result(PQexecParams(&connection, std::string(query.postgres).c_str(),
                             static_cast<int>(Count), nullptr, params.values.data(),
                             params.lengths.data(), params.formats.data(), 0));
}

std::string_view StateOf(const PGresult& result) {
  const char* state = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
  return state ? state : "";
}

[[noreturn]] void Refuse(PGconn& connection, const PGresult& result) {
  std::string message = PQerrorMessage(&connection);
  while (message.ends_with('\n')) message.pop_back();
  if (db::postgres::Classify(StateOf(result)).kind == base::FaultKind::kDenied)
    throw AccessDenied(db::postgres::DeniedText(message, PQuser(&connection)));
  throw Unavailable(message, false);
}

const char* OrNull(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

}  // namespace

std::string Enqueue(pg_conn* connection, const Message& message) {
  client::CheckMessage(message);
  const std::string due = message.due_at_ms ? base::UtcText(*message.due_at_ms) : "";
  const std::string delay = message.delay ? std::to_string(message.delay->count()) : "";
  const std::string priority = std::to_string(message.priority);
  const std::string headers = client::HeadersWithTrace(message);
  Params<8> params;
  params.values = {message.topic.c_str(), message.payload.data(),   OrNull(due),
                   OrNull(delay),         priority.c_str(),         OrNull(message.correlation_id),
                   OrNull(headers),       OrNull(message.dedup_key)};
  params.lengths[1] = static_cast<int>(message.payload.size());
  params.formats[1] = message.is_bytes ? 1 : 0;
  const db::Query& query = message.is_bytes ? client::sql::kEnqueueBytes : client::sql::kEnqueue;
  const Result result = Run(*connection, query, params);
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) Refuse(*connection, *result);
  return PQgetvalue(result.get(), 0, 0);
}

void Acknowledge(pg_conn* connection, const Delivery& delivery) {
  const std::string fence = std::to_string(delivery.fence);
  Params<2> params;
  params.values = {delivery.id.c_str(), fence.c_str()};
  const Result result = Run(*connection, client::sql::kAcknowledge, params);
  if (PQresultStatus(result.get()) == PGRES_TUPLES_OK) return;
  if (StateOf(*result) == kStaleFence)
    throw StaleClaim(fmt::format("fence {} of message {} is stale", delivery.fence, delivery.id),
                     delivery.id, delivery.fence);
  Refuse(*connection, *result);
}

}  // namespace tenure::messages
