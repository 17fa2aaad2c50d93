#include "db/postgres/engine.hpp"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "db/postgres/error.hpp"
#include "db/postgres/listener.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db::postgres {
namespace {

using base::Fault;

/// The answer to a plain (not pipelined) command, or the fault.
ResultPtr Checked(PGconn& connection, PGresult* raw) {
  ResultPtr result(raw);
  const auto status = PQresultStatus(raw);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return result;
  const char* sqlstate = PQresultErrorField(raw, PG_DIAG_SQLSTATE);
  throw Fault(Judge(sqlstate ? sqlstate : "").kind, PQerrorMessage(&connection));
}

Maintenance::TextRows RunPlain(PGconn& connection, const Query& query,
                               const std::vector<std::string>& params) {
  std::vector<const char*> values;
  values.reserve(params.size());
  for (const std::string& param : params) values.push_back(param.c_str());
  const std::string text(query.postgres);
  const auto result =
      Checked(connection, PQexecParams(&connection, text.c_str(), static_cast<int>(values.size()),
                                       nullptr, values.data(), nullptr, nullptr, 0));
  Maintenance::TextRows rows;
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    auto& cells = rows.emplace_back();
    for (int column = 0; column < PQnfields(result.get()); ++column)
      cells.emplace_back(PQgetvalue(result.get(), row, column));
  }
  return rows;
}

class PostgresMaintenance final : public Maintenance {
 public:
  explicit PostgresMaintenance(const ConnectionOptions& options)
      : connection_(ConnectTo(options)), test_clock_(options.test_clock) {
    Execute(sql::kBegin.postgres);
    // A pooler refuses settings that come with the connection.
    if (options.pooled) Run(sql::kTransactionSettings, {"0", "0", "0"});
    // Waits as long as it takes: another process that migrates is work, not contention.
    Run(sql::kMaintenanceLock, {});
  }

  void Execute(std::string_view script) override {
    Checked(*connection_, PQexec(connection_.get(), std::string(script).c_str()));
  }
  TextRows Run(const Query& query, const std::vector<std::string>& params) override {
    return RunPlain(*connection_, query, params);
  }
  std::int64_t NowMs() override {
    if (test_clock_) return test_clock_->WallMs();
    return std::stoll(Run(sql::kClock, {}).at(0).at(0));
  }
  void Commit() override { Execute(sql::kCommit.postgres); }

 private:
  ConnectionPtr connection_;  // closing it rolls back
  const base::Clock* const test_clock_;
};

class PostgresEngine final : public Engine {
 public:
  PostgresEngine(ConnectionOptions options, std::string direct_url, telemetry::Registry& metrics)
      : options_(std::move(options)),
        direct_(options_),
        can_listen_(!options_.pooled || !direct_url.empty()),
        metrics_(metrics) {
    if (!direct_url.empty()) {
      direct_.url = std::move(direct_url);
      direct_.pooled = false;
    }
    direct_.lock_timeout_ms = 0;
    direct_.statement_timeout_ms = 0;
  }

  std::string_view name() const override { return "postgres"; }
  int max_write_lanes() const override { return 0; }
  std::string_view TextOf(const Query& query) const override { return query.postgres; }

  std::string place() const override {
    char* error = nullptr;
    PQconninfoOption* parts = PQconninfoParse(options_.url.c_str(), &error);
    if (!parts) {
      PQfreemem(error);
      return "PostgreSQL";
    }
    const auto part = [&](std::string_view keyword) -> std::string {
      for (auto* option = parts; option->keyword; ++option)
        if (option->keyword == keyword && option->val) return option->val;
      return "";
    };
    std::string text = fmt::format("PostgreSQL database \"{}\" at {}:{}", part("dbname"),
                                   part("host"), part("port").empty() ? "5432" : part("port"));
    PQconninfoFree(parts);
    return text;
  }

  std::unique_ptr<Connection> NewConnection(Access) override {
    return std::make_unique<PostgresConnection>(
        options_, metrics_, [this](PGconn& connection) { Inspect(connection); });
  }
  std::unique_ptr<Maintenance> BeginMaintenance() override {
    return std::make_unique<PostgresMaintenance>(direct_);
  }
  std::unique_ptr<Feed> NewFeed(FeedEvents events) override {
    if (!can_listen_) return nullptr;
    return std::make_unique<Listener>(direct_, kChannel, std::move(events));
  }
  void CheckIdentity() override { Inspect(*ConnectTo(direct_)); }
  bool SurvivesFailover() const override { return has_synchronous_standby_; }
  std::int64_t incarnation() const override { return incarnation_; }

 private:
  /// On each new connection: another system identifier or timeline than the stored one means a
  /// restored backup or a promoted standby. The statement compares and raises in one step, so of
  /// many processes that notice one raises it.
  void Inspect(PGconn& connection) {
    const auto rows = RunPlain(connection, sql::kRaiseIncarnation, {});
    for (const auto& row : rows)
      if (row[1] == "1")
        base::LogWarn("store.incarnation",
                      "the database is not the one it was (restored or promoted): new incarnation",
                      {{"incarnation", row[0]}});
    const auto store = RunPlain(connection, sql::kReadStore, {}).at(0);
    incarnation_ = std::stoll(store[1]);
    has_synchronous_standby_ = !store[3].empty();
  }

  const ConnectionOptions options_;
  ConnectionOptions direct_;
  const bool can_listen_;  // a pooler does not pass notifications on
  std::atomic<std::int64_t> incarnation_{0};
  std::atomic<bool> has_synchronous_standby_{false};
  telemetry::Registry& metrics_;
};

}  // namespace

std::unique_ptr<Engine> MakeEngine(ConnectionOptions options, std::string direct_url,
                                   telemetry::Registry& metrics) {
  return std::make_unique<PostgresEngine>(std::move(options), std::move(direct_url), metrics);
}

}  // namespace tenure::db::postgres
