#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <libpq-fe.h>

#include "base/clock.hpp"
#include "db/connection.hpp"
#include "db/postgres/seen_log.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db::postgres {

struct ConnectionOptions {
  std::string url;  ///< postgres://…; several hosts are tried in turn, the primary is taken
  bool pooled =
      false;  ///< behind a transaction pooler: unnamed statements, settings per transaction
  std::int64_t connect_timeout_ms = 5'000;
  std::int64_t lock_timeout_ms = 2'000;
  std::int64_t statement_timeout_ms = 10'000;
  std::span<const Query* const> queries;    ///< prepared on every new connection
  const base::Clock* test_clock = nullptr;  ///< a test's clock instead of the server's
};

struct Closer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using ConnectionPtr = std::unique_ptr<PGconn, Closer>;
using ResultPtr = std::unique_ptr<PGresult, Closer>;

/// Why there is no connection, in PostgreSQL's words. With a hint where it is a pooler that speaks:
/// one refuses the settings that come with a connection.
std::string ConnectTrouble(const PGconn* connection);

/// Connects, outside of pipeline mode. Throws kStoreUnavailable. Sessions run in UTC and with the
/// time-outs of the options, except behind a pooler, where the next transaction may have another
/// session.
ConnectionPtr ConnectTo(const ConnectionOptions& options);

/// The same without waiting: the caller goes on with PQconnectPoll.
ConnectionPtr BeginConnect(const ConnectionOptions& options);

/// A lane's connection: libpq in pipeline mode.
///
/// `Send` hands the statement to libpq; `Receive` of any statement that has not been answered sends
/// a Sync and reads all answers up to it. BEGIN goes with the first statement and COMMIT with the
/// last ones, so a write is two round trips: locks, load and clock; then changes and COMMIT. A look
/// (Access::kRead) has neither: the statements up to one Sync are one implicit transaction.
///
/// After an error the server skips everything up to the Sync, so a COMMIT that was sent behind a
/// failed statement was not executed: that is what lets an error be told from an unknown outcome.
class PostgresConnection final : public Connection {
 public:
  /// A server process.
  struct Backend {
    int pid = 0;
    std::string started{};  ///< when: another process may have the number later
  };
  /// What is found out about a new connection.
  struct Inspected {
    std::int64_t era = 0;           ///< of its log (seen_log.hpp)
    std::int64_t store_table = 0;   ///< the oid of tenure.store
    std::string backend_started{};  ///< of the server process behind it
  };
  /// Looks at a new connection before it is used (incarnation). `orphan` is the server process of
  /// the last connection, where that was given up while it was at work: while it still is, a new
  /// one is refused, so that a store that hangs gathers no more than two processes of a lane.
  /// Throws base::Fault.
  using Inspector =
      std::function<Inspected(PGconn& connection, const std::optional<Backend>& orphan)>;

  /// Each reading of the clock notes in `seen` how much of the log is on disk.
  PostgresConnection(ConnectionOptions options, telemetry::Registry& metrics, Inspector inspect,
                     SeenLog& seen);

  void Open() override;
  bool IsOpen() const override { return connection_ != nullptr; }
  void Close() noexcept override;
  void CheckPeer() noexcept override;
  void Begin(Access access) override;
  std::size_t Send(const Query& query, std::span<const Param> params) override;
  std::size_t SendClock() override;
  Rows Receive(std::size_t statement) override;
  std::int64_t ReceiveClock(std::size_t statement) override;
  void Commit() override;
  void Rollback() noexcept override;

  /// The server process behind it, for tests that ask PostgreSQL whom it waits for.
  int backend_pid() const { return PQbackendPID(connection_.get()); }

 private:
  struct Statement {
    const Query* query = nullptr;
    enum class Kind { kQuery, kClock, kCommit, kPrepare } kind = Kind::kQuery;
    bool answered = false;
    std::optional<Rows> rows;
  };
  struct Failure {
    std::string sqlstate;
    std::string message;
    std::size_t statement;
  };

  void PrepareAll();
  std::size_t SendSql(const Query& query, std::span<const Param> params,
                      Statement::Kind kind = Statement::Kind::kQuery);
  std::size_t Sent(Statement statement);
  void SendBegin();
  void Flush();
  void WriteAll();
  ResultPtr NextResult();
  void WaitFor(bool readable, bool writable);
  void ReadAnswers();
  void TakeFarewell();
  void TakeAnswer(Statement& statement, const PGresult& result, std::size_t index,
                  std::optional<Failure>& failure);
  [[noreturn]] void Fail(const Failure& failure);
  void TakeClock(Statement& statement);
  [[noreturn]] void Lost(const std::string& message, bool is_silent = false);
  void Step(std::string_view name);
  void Observe(const Query& query);

  const ConnectionOptions options_;
  const Inspector inspect_;
  SeenLog& seen_log_;
  Inspected inspected_;            // of this connection
  std::optional<Backend> orphan_;  // of the last one, which was given up while it was at work
  telemetry::Registry& metrics_;
  std::unordered_map<const Query*, telemetry::Histogram*> latency_;

  ConnectionPtr connection_;
  std::vector<Statement> statements_;  // of this transaction
  std::deque<std::size_t> open_;       // those of them that were sent and not answered, in order
  bool begin_pending_ = false;         // BEGIN has not been sent yet
  bool impatient_ = false;             // this transaction waits for locks only a moment
  bool in_transaction_ = false;        // BEGIN was sent, neither COMMIT nor ROLLBACK was answered
  bool heard_ = false;                 // the server has answered something in this transaction
  bool commit_sent_ = false;
  bool is_other_store_ = false;        // the tables are not those that were inspected
  std::int64_t deadline_boot_ms_ = 0;  // of the flush under way
  std::int64_t answered_micros_ = 0;   // when the last answer arrived
};

}  // namespace tenure::db::postgres
