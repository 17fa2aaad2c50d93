#include "db/postgres/connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "db/postgres/encode.hpp"
#include "db/postgres/error.hpp"
#include "db/query_latency.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db::postgres {
namespace {

using base::Fault;
using base::FaultKind;

/// How much longer than the server's own statement_timeout we wait at most for an answer before we
/// take the server or the network for dead.
constexpr std::int64_t kSilenceMs = 5'000;
constexpr std::int64_t kForeverMs = 86'400'000;

/// What an impatient transaction waits for a lock.
constexpr std::int64_t kMomentMs = 250;

/// How long the server lets a transaction of ours stand idle before it ends it. A lane needs
/// microseconds between its two flushes: longer means that the process was paused, and its locks
/// must not outlast that.
constexpr std::int64_t kIdleInTransactionMs = 5'000;

std::string Trimmed(const char* message) {
  std::string text(message ? message : "");
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// How to connect, as libpq wants it.
///
/// Plans are made once per connection, often when a table is still empty, and must be right when it
/// has grown: each of our queries has an index to go by and asks for a few keys, so neither a
/// sequential scan nor a join that reads a whole index (hash, merge) is ever what we want, and a
/// plan that is compiled or shared out costs more than it saves (docs/decisions/0009).
class Parameters {
 public:
  explicit Parameters(const ConnectionOptions& options)
      : url_(options.url),
        timeout_(
            std::to_string(std::max<std::int64_t>(2, (options.connect_timeout_ms + 999) / 1000))),
        settings_(fmt::format(
            "-c TimeZone=UTC -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off "
            "-c jit=off -c max_parallel_workers_per_gather=0 "
            "-c plan_cache_mode=force_generic_plan -c lock_timeout={} -c statement_timeout={} "
            "-c idle_in_transaction_session_timeout={} -c client_min_messages=error",
            options.lock_timeout_ms, options.statement_timeout_ms,
            options.statement_timeout_ms > 0 ? kIdleInTransactionMs : 0)) {
    // What stands before dbname are defaults that the URL may override; what stands behind it is
    // forced.
    Add("application_name", "tenure");
    Add("target_session_attrs", "read-write");
    Add("keepalives_idle", "10");
    Add("tcp_user_timeout", "15000");
    Add("dbname", url_.c_str());
    Add("connect_timeout", timeout_.c_str());
    Add("client_encoding", "UTF8");
    if (!options.pooled) Add("options", settings_.c_str());
    Add(nullptr, nullptr);
  }

  const char* const* keys() const { return keys_.data(); }
  const char* const* values() const { return values_.data(); }

 private:
  void Add(const char* key, const char* value) {
    keys_.push_back(key);
    values_.push_back(value);
  }

  const std::string url_;
  const std::string timeout_;
  const std::string settings_;
  std::vector<const char*> keys_;
  std::vector<const char*> values_;
};

}  // namespace

std::string ConnectTrouble(const PGconn* connection) {
  if (!connection) return "no memory";
  std::string trouble = Trimmed(PQerrorMessage(connection));
  if (trouble.find("unsupported startup parameter") != std::string::npos)
    trouble +=
        " A connection pooler such as PgBouncer answers there. Set store.pooled to on, and "
        "store.listen to an address of PostgreSQL itself (in the library: the option `pooled`).";
  return trouble;
}

ConnectionPtr ConnectTo(const ConnectionOptions& options) {
  const Parameters parameters(options);
  ConnectionPtr connection(PQconnectdbParams(parameters.keys(), parameters.values(), 1));
  if (!connection || PQstatus(connection.get()) != CONNECTION_OK)
    throw Fault(FaultKind::kStoreUnavailable,
                fmt::format("cannot connect to PostgreSQL: {}", ConnectTrouble(connection.get())));
  return connection;
}

ConnectionPtr BeginConnect(const ConnectionOptions& options) {
  const Parameters parameters(options);
  ConnectionPtr connection(PQconnectStartParams(parameters.keys(), parameters.values(), 1));
  if (!connection) throw Fault(FaultKind::kStoreUnavailable, "no memory for a connection");
  return connection;
}

PostgresConnection::PostgresConnection(ConnectionOptions options, telemetry::Registry& metrics,
                                       Inspector inspect, SeenLog& seen)
    : options_(std::move(options)),
      inspect_(std::move(inspect)),
      seen_log_(seen),
      metrics_(metrics) {}

void PostgresConnection::Open() {
  Close();
  connection_ = ConnectTo(options_);
  try {
    inspected_ = inspect_(*connection_, orphan_);
    orphan_.reset();
    PQsetnonblocking(connection_.get(), 1);
    if (PQenterPipelineMode(connection_.get()) != 1) Lost("cannot enter pipeline mode");
    if (!options_.pooled) PrepareAll();
    if (!connection_) Lost("the server closed the connection");
  } catch (...) {
    Close();
    throw;
  }
}

void PostgresConnection::Close() noexcept {
  connection_.reset();
  statements_.clear();
  open_.clear();
  begin_pending_ = in_transaction_ = commit_sent_ = is_other_store_ = false;
}

/// While nothing of ours is on its way, a server has nothing to say but farewell.
void PostgresConnection::CheckPeer() noexcept {
  if (!connection_) return;
  pollfd socket{PQsocket(connection_.get()), POLLIN, 0};
  if (poll(&socket, 1, 0) != 0) Close();
}

/// Everything once, when the connection is new: no statement is ever prepared in the middle of a
/// transaction, where a failure would leave it unknown whether the server has it.
void PostgresConnection::PrepareAll() {
  for (const Query* query : options_.queries) {
    if (query->postgres.empty()) continue;
    const std::string name(query->name);
    const std::string text(query->postgres);
    if (PQsendPrepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr) != 1)
      Lost(Trimmed(PQerrorMessage(connection_.get())));
    Sent({.query = query, .kind = Statement::Kind::kPrepare, .rows = {}});
  }
  Flush();
  statements_.clear();
  open_.clear();
}

void PostgresConnection::Begin(Access access) {
  TENURE_CHECK(IsOpen() && !in_transaction_ && !begin_pending_, "Begin inside of a transaction");
  statements_.clear();
  open_.clear();
  commit_sent_ = heard_ = false;
  begin_pending_ = access != Access::kRead;
  impatient_ = access == Access::kImpatientWrite;
}

void PostgresConnection::SendBegin() {
  if (!begin_pending_) return;
  if (hook_) hook_->Before("begin");
  begin_pending_ = false;
  in_transaction_ = true;
  SendSql(sql::kBegin, {});
  // Behind a pooler the session may be another one each time: the settings come with the
  // transaction.
  if (options_.pooled || impatient_) {
    const std::array<Param, 3> timeouts{impatient_ ? kMomentMs : options_.lock_timeout_ms,
                                        options_.statement_timeout_ms, kIdleInTransactionMs};
    SendSql(sql::kTransactionSettings, timeouts);
  }
  Step("begin");
}

std::size_t PostgresConnection::Send(const Query& query, std::span<const Param> params) {
  if (query.postgres.empty() || ItemCount(params) == 0) {
    statements_.push_back({.query = &query, .answered = true, .rows = Rows()});
    return statements_.size() - 1;
  }
  SendBegin();
  if (hook_) hook_->Before(query.name);
  const std::size_t index = SendSql(query, params);
  Step(query.name);
  return index;
}

std::size_t PostgresConnection::SendClock() {
  SendBegin();
  if (hook_) hook_->Before("clock");
  const std::size_t index = SendSql(sql::kClock, {}, Statement::Kind::kClock);
  Step("clock");
  return index;
}

std::size_t PostgresConnection::SendSql(const Query& query, std::span<const Param> params,
                                        Statement::Kind kind) {
  // Nothing of ours is on its way, so the server has nothing to say but farewell: it shut down, or
  // ended a transaction that stood idle because this process was paused. Noticing before anything
  // is sent keeps that from becoming an unknown outcome.
  if (open_.empty()) CheckPeer();
  if (!connection_) throw Fault(FaultKind::kStoreUnavailable, "the server closed the connection");
  const EncodedParams encoded(params);
  int sent = 0;
  if (options_.pooled) {
    const std::string text(query.postgres);
    sent = PQsendQueryParams(connection_.get(), text.c_str(), encoded.count(), nullptr,
                             encoded.values(), encoded.lengths(), encoded.formats(), 1);
  } else {
    const std::string name(query.name);
    sent = PQsendQueryPrepared(connection_.get(), name.c_str(), encoded.count(), encoded.values(),
                               encoded.lengths(), encoded.formats(), 1);
  }
  if (sent != 1) Lost(Trimmed(PQerrorMessage(connection_.get())));
  return Sent({.query = &query, .kind = kind, .rows = {}});
}

std::size_t PostgresConnection::Sent(Statement statement) {
  statements_.push_back(std::move(statement));
  open_.push_back(statements_.size() - 1);
  return statements_.size() - 1;
}

/// With a hook: the statement is executed now and by itself.
void PostgresConnection::Step(std::string_view name) {
  if (!hook_) return;
  Flush();
  hook_->After(name);
}

Rows PostgresConnection::Receive(std::size_t statement) {
  TENURE_CHECK(statement < statements_.size(), "no such statement");
  if (!statements_[statement].answered) Flush();
  TENURE_CHECK(statements_[statement].rows.has_value(), "a result was taken twice");
  return *std::exchange(statements_[statement].rows, std::nullopt);
}

std::int64_t PostgresConnection::ReceiveClock(std::size_t statement) {
  const Rows rows = Receive(statement);
  // Nothing is decided on tables that were put in the place of ours: whoever connects anew looks at
  // them first.
  if (is_other_store_) Lost("the store was replaced by another one");
  return rows[0].Int(0);
}

void PostgresConnection::Commit() {
  begin_pending_ = false;  // nothing was sent: nothing is to be committed
  if (!in_transaction_) {
    if (!open_.empty()) Flush();
    return;
  }
  // COMMIT never goes out with the first words of a transaction: if the connection is dead, nothing
  // happened, and that must not look like an unknown outcome.
  if (!heard_) Flush();
  if (hook_) hook_->Before("commit");
  SendSql(sql::kCommit, {}, Statement::Kind::kCommit);
  commit_sent_ = true;
  Flush();
  in_transaction_ = false;
  if (hook_) hook_->After("commit");
}

void PostgresConnection::Rollback() noexcept {
  begin_pending_ = false;
  if (!connection_) return;
  try {
    // What was queued and never sent goes first: libpq cannot take it back.
    if (in_transaction_) {
      SendSql(sql::kRollback, {});
      Flush();
      in_transaction_ = false;
    } else if (!open_.empty()) {
      Flush();
    }
  } catch (...) {
    Close();
  }
}

/// Sends what is queued with a Sync and reads the answers up to it.
void PostgresConnection::Flush() {
  const std::int64_t patience_ms =
      options_.statement_timeout_ms > 0
          ? options_.statement_timeout_ms + std::min(kSilenceMs, options_.statement_timeout_ms)
          : kForeverMs;
  deadline_boot_ms_ = base::SystemClock().BootMs() + patience_ms;
  answered_micros_ = base::MeasureMicros();
  if (PQpipelineSync(connection_.get()) != 1) Lost(Trimmed(PQerrorMessage(connection_.get())));
  WriteAll();
  ReadAnswers();
}

void PostgresConnection::WriteAll() {
  // Reading while writing: a server that waits for us to read would never read what we write.
  while (true) {
    const int left = PQflush(connection_.get());
    if (left == 0) return;
    if (left < 0) Lost(Trimmed(PQerrorMessage(connection_.get())));
    WaitFor(true, true);
    if (PQconsumeInput(connection_.get()) != 1) Lost(Trimmed(PQerrorMessage(connection_.get())));
  }
}

void PostgresConnection::WaitFor(bool readable, bool writable) {
  pollfd socket{PQsocket(connection_.get()), 0, 0};
  if (readable) socket.events |= POLLIN;
  if (writable) socket.events |= POLLOUT;
  const std::int64_t left_ms = deadline_boot_ms_ - base::SystemClock().BootMs();
  if (left_ms <= 0) Lost("PostgreSQL does not answer", true);
  poll(&socket, 1, static_cast<int>(left_ms));
}

/// The next result, or null at the end of a statement's results.
ResultPtr PostgresConnection::NextResult() {
  while (PQisBusy(connection_.get())) {
    WaitFor(true, false);
    if (PQconsumeInput(connection_.get()) != 1) Lost(Trimmed(PQerrorMessage(connection_.get())));
  }
  return ResultPtr(PQgetResult(connection_.get()));
}

void PostgresConnection::ReadAnswers() {
  std::optional<Failure> failure;
  int silent =
      0;  // a server that shuts down in the middle of a pipeline may leave us with null for ever
  while (true) {
    const ResultPtr result = NextResult();
    if (!result) {
      if (++silent > 2 || PQstatus(connection_.get()) == CONNECTION_BAD) {
        if (failure) Fail(*failure);
        Lost("the server closed the connection");
      }
      continue;
    }
    silent = 0;
    if (PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) break;
    if (open_.empty()) {
      if (failure) Fail(*failure);
      return TakeFarewell();
    }
    const std::size_t index = open_.front();
    open_.pop_front();
    TakeAnswer(statements_[index], *result, index, failure);
  }
  TENURE_CHECK(open_.empty(), "a statement was not answered");
  if (failure) Fail(*failure);
}

/// The server ended the connection when everything was answered and only its word to the Sync was
/// missing. What was committed is committed, and what was only looked at was seen; a transaction
/// that is still open is lost.
void PostgresConnection::TakeFarewell() {
  const bool complete = commit_sent_ || !in_transaction_;
  commit_sent_ = false;
  if (!complete) Lost("the server closed the connection");
  auto answered = std::move(statements_);
  Close();
  statements_ = std::move(answered);
}

void PostgresConnection::TakeAnswer(Statement& statement, const PGresult& result, std::size_t index,
                                    std::optional<Failure>& failure) {
  statement.answered = true;
  heard_ = true;
  switch (PQresultStatus(&result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
      // COMMIT of a failed transaction "succeeds" as ROLLBACK.
      if (statement.kind == Statement::Kind::kCommit &&
          std::string_view(PQcmdStatus(const_cast<PGresult*>(&result))) != "COMMIT")
        failure = Failure{"40000", "the transaction was rolled back", index};
      statement.rows = DecodeRows(result);
      if (statement.kind == Statement::Kind::kClock) TakeClock(statement);
      if (statement.kind != Statement::Kind::kPrepare) Observe(*statement.query);
      return;
    case PGRES_PIPELINE_ABORTED:
      return;
    default:
      if (failure) return;
      const char* sqlstate = PQresultErrorField(&result, PG_DIAG_SQLSTATE);
      failure = Failure{sqlstate ? sqlstate : "", Trimmed(PQresultErrorMessage(&result)), index};
  }
}

void PostgresConnection::Fail(const Failure& failure) {
  const Statement& statement = statements_[failure.statement];
  std::string message = fmt::format("{}: {}", statement.query->name, failure.message);
  const ErrorClass error_class = Classify(failure.sqlstate);
  if (error_class.kind == FaultKind::kDenied)
    message = DeniedText(message, PQuser(connection_.get()));
  // The server stopped while it committed: it may have happened. An error of an earlier statement
  // means that COMMIT was skipped, whatever the error.
  const bool unknown = statement.kind == Statement::Kind::kCommit && error_class.connection_is_lost;
  if (error_class.connection_is_lost || PQstatus(connection_.get()) == CONNECTION_BAD) Close();
  throw Fault(unknown ? FaultKind::kOutcomeUnknown : error_class.kind, message);
}

void PostgresConnection::TakeClock(Statement& statement) {
  const auto row = (*statement.rows)[0];
  if (row.Int(2) != inspected_.store_table) is_other_store_ = true;
  if (!options_.test_clock) return seen_log_.Note(inspected_.era, row.Int(1));
  statement.rows.emplace().BeginRow(0, 1);
  statement.rows->AddInt(options_.test_clock->WallMs());
}

/// The server process may be at work for as long as it likes: on a COMMIT that a standby keeps
/// waiting, or because all of PostgreSQL stands still. (Behind a pooler the number is the pooler's.)
void PostgresConnection::Lost(const std::string& message, bool is_silent) {
  const bool unknown = commit_sent_;
  if (connection_ && (unknown || is_silent) && !options_.pooled)
    orphan_ = Backend{PQbackendPID(connection_.get()), inspected_.backend_started};
  Close();
  throw Fault(unknown ? FaultKind::kOutcomeUnknown : FaultKind::kStoreUnavailable, message);
}

void PostgresConnection::Observe(const Query& query) {
  auto& latency = latency_[&query];
  if (!latency) latency = &QueryLatency(metrics_, query);
  const std::int64_t now = base::MeasureMicros();
  latency->Observe(now - answered_micros_);
  answered_micros_ = now;
}

}  // namespace tenure::db::postgres
