#include "tenure/queues/outbox.hpp"

#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include <libpq-fe.h>

#include "client/checks.hpp"
#include "client_sql/queries.hpp"
#include "db/postgres/error.hpp"

namespace tenure::queues {
namespace {

struct ResultClearer {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ResultClearer>;

/// A parameter; they are kept by the caller until the statement was run.
struct Param {
  const char* value = nullptr;
  int length = 0;
  int format = 0;  // 0: text
};

template <std::size_t Count>
ResultPtr RunOne(PGconn& connection, const db::Query& query, const std::array<Param, Count>& all) {
  std::array<const char*, Count> values{};
  std::array<int, Count> lengths{};
  std::array<int, Count> formats{};
  for (std::size_t i = 0; i < Count; ++i) {
    values.at(i) = all.at(i).value;
    lengths.at(i) = all.at(i).length;
    formats.at(i) = all.at(i).format;
  }
  return ResultPtr(PQexecParams(&connection, std::string(query.postgres).c_str(),
                                static_cast<int>(Count), nullptr, values.data(), lengths.data(),
                                formats.data(), 0));
}

Param TextParam(const std::string& text) { return {text.c_str(), 0, 0}; }
Param TextOrNull(const std::string& text) { return {text.empty() ? nullptr : text.c_str(), 0, 0}; }

[[noreturn]] void Refuse(PGconn& connection, const PGresult& result) {
  std::string message = PQerrorMessage(&connection);
  while (message.ends_with('\n')) message.pop_back();
  const char* const state = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
  const std::string_view code = state ? state : "";
  if (db::postgres::Classify(code).kind == base::FaultKind::kDenied)
    throw AccessDenied(db::postgres::DeniedText(message, PQuser(&connection)));
  // There is no such queue or session; it takes no more.
  if (code == "42704" || code == "55000") throw QueueRefused(message);
  throw Unavailable(message, false);
}

}  // namespace

std::string Send(pg_conn* connection, std::string_view queue, const SessionMessage& message) {
  client::CheckSessionMessages(std::span(&message, 1));
  const std::string name(queue);
  const std::string ttl = message.ttl ? std::to_string(message.ttl->count()) : "";
  const std::array<Param, 8> params{
      TextParam(name),
      TextParam(message.session_key),
      Param{message.payload.data(), static_cast<int>(message.payload.size()),
            message.is_bytes ? 1 : 0},
      TextOrNull(message.correlation_id),
      TextOrNull(message.headers),
      TextOrNull(message.dedup_key),
      TextOrNull(ttl),
      TextOrNull(message.share)};
  const ResultPtr result =
      RunOne(*connection, message.is_bytes ? client::sql::kQueueSendBytes : client::sql::kQueueSend,
             params);
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) Refuse(*connection, *result);
  return PQgetvalue(result.get(), 0, 0);
}

void Complete(pg_conn* connection, const Delivery& delivery,
              const std::optional<std::string>& state) {
  const std::string fence = std::to_string(delivery.fence);
  const std::string sequence = std::to_string(delivery.sequence);
  const std::array<Param, 4> params{
      TextParam(delivery.session), TextParam(fence), TextParam(sequence),
      state ? Param{state->data(), static_cast<int>(state->size()), 1} : Param{}};
  const ResultPtr result = RunOne(*connection, client::sql::kQueueComplete, params);
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) Refuse(*connection, *result);
}

}  // namespace tenure::queues
