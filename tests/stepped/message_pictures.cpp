#include "stepped/message_pictures.hpp"

#include "base/error.hpp"

namespace tenure::stepped {
namespace {

constexpr auto kMessages =
    "select m.id, convert_from(m.payload, 'UTF8')::bigint, t.name, m.pos, m.due_ms, m.fence, "
    "m.lease_until_ms, m.worker, m.attempts, m.crashes, "
    "case when m.pos = 0 then 1 when m.lease_until_ms = 0 then 2 else 3 end "
    "from tenure.messages m join tenure.topics t using (topic_id) where t.tenant = $1 "
    "union all "
    "select d.id, convert_from(d.payload, 'UTF8')::bigint, t.name, 0, 0, d.fence, 0, 0, "
    "d.attempts, d.crashes, 4 "
    "from tenure.dead_letters d join tenure.topics t using (topic_id) "
    "where d.tenant = $1 and d.redriven_ms = 0 "
    "union all "
    "select f.id, 0, t.name, 0, 0, f.fence, 0, 0, f.attempts, f.crashes, 5 "
    "from tenure.finished_messages f join tenure.topics t using (topic_id) where t.tenant = $1";
constexpr auto kClaims =
    "select started, encode(messages, 'hex') from tenure.message_claims where tenant = $1";
constexpr auto kWorkers = "select worker, expires_ms from tenure.message_workers where tenant = $1";
constexpr auto kPaused = "select name from tenure.topics where tenant = $1 and paused_ms > 0";

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

}  // namespace

MessagePictures::MessagePictures(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  TENURE_CHECK(PQstatus(connection_.get()) == CONNECTION_OK, PQerrorMessage(connection_.get()));
}

MessagePictures::Result MessagePictures::Ask(const char* sql, const std::string& tenant) {
  const char* const values[] = {tenant.c_str()};
  Result result(PQexecParams(connection_.get(), sql, 1, nullptr, values, nullptr, nullptr, 0));
  TENURE_CHECK(PQresultStatus(result.get()) == PGRES_TUPLES_OK, PQerrorMessage(connection_.get()));
  return result;
}

sim::Picture MessagePictures::Read(const std::string& tenant, std::int64_t now_ms) {
  sim::Picture picture;
  picture.now_ms = now_ms;
  const Result messages = Ask(kMessages, tenant);
  for (int i = 0; i < PQntuples(messages.get()); ++i) {
    const auto text = [&](int column) { return PQgetvalue(messages.get(), i, column); };
    const auto number = [&](int column) { return std::stoll(text(column)); };
    const sim::MessageRow row{static_cast<sim::Place>(number(10)),
                              number(1),
                              text(2),
                              number(3),
                              number(4),
                              number(5),
                              number(6),
                              number(7),
                              number(8),
                              number(9)};
    if (!picture.messages.emplace(*base::Uuid::Parse(text(0)), row).second) picture.twice = text(0);
  }
  const Result claims = Ask(kClaims, tenant);
  for (int i = 0; i < PQntuples(claims.get()); ++i)
    picture.claims.push_back({std::stoll(PQgetvalue(claims.get(), i, 0)),
                              messages::DecodeHanded(FromHex(PQgetvalue(claims.get(), i, 1)))});
  const Result workers = Ask(kWorkers, tenant);
  for (int i = 0; i < PQntuples(workers.get()); ++i)
    picture.workers[std::stoll(PQgetvalue(workers.get(), i, 0))] =
        std::stoll(PQgetvalue(workers.get(), i, 1));
  const Result paused = Ask(kPaused, tenant);
  for (int i = 0; i < PQntuples(paused.get()); ++i)
    picture.paused.insert(PQgetvalue(paused.get(), i, 0));
  return picture;
}

}  // namespace tenure::stepped
