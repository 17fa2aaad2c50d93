#include "db/postgres/engine.hpp"

#include <poll.h>

#include <atomic>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "db/postgres/error.hpp"
#include "db/postgres/listener.hpp"
#include "db/postgres/seen_log.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db::postgres {
namespace {

using base::Fault;
using base::FaultKind;

/// What a plain (not pipelined) command may take. Maintenance waits for as long as it takes: another
/// process that migrates is work, not contention.
constexpr std::int64_t kMaintenanceMs = 86'400'000;
constexpr std::int64_t kInspectionMs = 10'000;

/// Fences of a higher one would not be exact in JSON.
constexpr std::int64_t kMaxIncarnation = 8'191;

/// The answer to a plain command that was sent, or the fault. A server that stands still must not
/// keep its caller for ever.
ResultPtr Answer(PGconn& connection, std::int64_t patience_ms) {
  const std::int64_t deadline_boot_ms = base::SystemClock().BootMs() + patience_ms;
  ResultPtr last;
  while (true) {
    while (PQisBusy(&connection)) {
      const std::int64_t left_ms = deadline_boot_ms - base::SystemClock().BootMs();
      if (left_ms <= 0) throw Fault(FaultKind::kStoreUnavailable, "PostgreSQL does not answer");
      pollfd socket{PQsocket(&connection), POLLIN, 0};
      poll(&socket, 1, static_cast<int>(left_ms));
      if (PQconsumeInput(&connection) != 1)
        throw Fault(FaultKind::kStoreUnavailable, PQerrorMessage(&connection));
    }
    ResultPtr next(PQgetResult(&connection));
    if (!next) break;
    // Of a script the first error counts.
    if (!last || PQresultStatus(last.get()) != PGRES_FATAL_ERROR) last = std::move(next);
  }
  const auto status = PQresultStatus(last.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return last;
  const char* sqlstate = PQresultErrorField(last.get(), PG_DIAG_SQLSTATE);
  const ErrorClass error_class = Classify(sqlstate ? sqlstate : "");
  std::string message = PQerrorMessage(&connection);
  while (message.ends_with('\n')) message.pop_back();
  if (error_class.kind == FaultKind::kDenied) message = DeniedText(message, PQuser(&connection));
  throw Fault(error_class.kind, message);
}

void CheckSent(PGconn& connection, int sent) {
  if (sent != 1) throw Fault(FaultKind::kStoreUnavailable, PQerrorMessage(&connection));
}

Maintenance::TextRows RunPlain(PGconn& connection, const Query& query,
                               const std::vector<std::string>& params, std::int64_t patience_ms) {
  std::vector<const char*> values;
  values.reserve(params.size());
  for (const std::string& param : params) values.push_back(param.c_str());
  const std::string text(query.postgres);
  CheckSent(connection,
            PQsendQueryParams(&connection, text.c_str(), static_cast<int>(values.size()), nullptr,
                              values.data(), nullptr, nullptr, 0));
  const ResultPtr result = Answer(connection, patience_ms);
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
    CheckSent(*connection_, PQsendQuery(connection_.get(), std::string(script).c_str()));
    Answer(*connection_, kMaintenanceMs);
  }
  TextRows Run(const Query& query, const std::vector<std::string>& params) override {
    return RunPlain(*connection_, query, params, kMaintenanceMs);
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
  PostgresEngine(ConnectionOptions options, std::string direct_url, telemetry::Registry& metrics,
                 const FreezePolicy& policy)
      : policy_(policy),
        options_(std::move(options)),
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
        options_, metrics_,
        [this](PGconn& connection, const auto& orphan) { return Inspect(connection, orphan); },
        seen_log_);
  }
  std::unique_ptr<Maintenance> BeginMaintenance() override {
    return std::make_unique<PostgresMaintenance>(direct_);
  }
  std::unique_ptr<Feed> NewFeed(FeedEvents events) override {
    if (!can_listen_) return nullptr;
    return std::make_unique<Listener>(direct_, kChannel, std::move(events));
  }
  void CheckIdentity() override { Inspect(*ConnectTo(direct_), {}); }
  bool SurvivesFailover() const override { return has_synchronous_standby_; }
  std::int64_t incarnation() const override { return incarnation_; }

 private:
  using Inspected = PostgresConnection::Inspected;
  using Backend = PostgresConnection::Backend;

  Inspected Inspect(PGconn& connection, const std::optional<Backend>& orphan) {
    const auto run = [&](const Query& query, const std::vector<std::string>& params = {}) {
      return RunPlain(connection, query, params, kInspectionMs);
    };
    // One after the other: of several lanes that find the log behind what was seen, one raises.
    const base::Lock lock(inspecting_);
    if (orphan && !run(sql::kFindBackend, {std::to_string(orphan->pid), orphan->started}).empty())
      throw Fault(FaultKind::kStoreUnavailable,
                  "PostgreSQL is still at work on what the last connection sent");
    return InspectStore(run);
  }

  /// On each new connection: whether the store may have forgotten commits (raise_incarnation.sql).
  /// The statement compares and raises in one step, so of many processes that notice one raises it.
  /// What this process has seen of incarnations was committed before the statement begins, and
  /// under the lock nobody here sees more meanwhile: a lower one is another store's, or an older.
  template <class Run>
  Inspected InspectStore(const Run& run) {
    const SeenLog::Mark asked = seen_log_.Ask();
    const auto before = StoreRow(run);
    SeenLog::Look look = seen_log_.Open(asked, before.at(5), std::stoll(before.at(4)));
    for (const auto& row :
         run(sql::kRaiseIncarnation,
             {std::to_string(policy_.freeze_ms), policy_.failover_keeps_commits ? "1" : "0",
              look.behind ? "1" : "0", std::to_string(incarnation_.load())}))
      if (row[1] == "1")
        base::LogWarn("store.incarnation",
                      "the database is not the one it was (restored or promoted): new incarnation",
                      {{"incarnation", row[0]}});
    if (look.behind) look.era = seen_log_.Raised();
    const auto store = StoreRow(run);
    // An odd row, which fences could not be made of, must not be remembered as what was seen.
    if (const auto incarnation = std::stoll(store[1]); incarnation <= kMaxIncarnation)
      incarnation_ = incarnation;
    has_synchronous_standby_ = !store[3].empty();
    return {look.era, std::stoll(store[6]), store[7]};
  }

  template <class Run>
  static std::vector<std::string> StoreRow(const Run& run) {
    auto rows = run(sql::kReadStore);
    if (rows.empty())
      throw Fault(FaultKind::kStoreUnavailable, "tenure.store is empty: is it being restored?");
    return std::move(rows.front());
  }

  const FreezePolicy policy_;
  const ConnectionOptions options_;
  ConnectionOptions direct_;
  const bool can_listen_;  // a pooler does not pass notifications on
  base::Mutex inspecting_;
  SeenLog seen_log_;
  std::atomic<std::int64_t> incarnation_{0};
  std::atomic<bool> has_synchronous_standby_{false};
  telemetry::Registry& metrics_;
};

}  // namespace

std::unique_ptr<Engine> MakeEngine(ConnectionOptions options, std::string direct_url,
                                   telemetry::Registry& metrics, const FreezePolicy& policy) {
  return std::make_unique<PostgresEngine>(std::move(options), std::move(direct_url), metrics,
                                          policy);
}

}  // namespace tenure::db::postgres
