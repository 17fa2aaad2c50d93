#pragma once

#include <array>
#include <cstdint>

#include "db/columns.hpp"
#include "db/connection.hpp"

namespace tenure::db {

/// One transaction (or one consistent look, with Access::kRead) on a lane's connection.
///
///   tx.Queue(sql::kLockKeys, users, capacities);            // sent together with what follows
///   auto loaded = tx.Queue(sql::kLoadLatest, users, capacities);
///   auto clock = tx.QueueClock();                           // a statement after the locks
///   for (auto row : tx.Take(loaded)) …
///   const auto now_ms = tx.TakeClock(clock);
///
/// Why in this order: docs/ground.md, Time.
///
/// The lane begins and commits; a transaction that is destroyed without Commit is rolled back.
class Transaction {
 public:
  struct Pending {
    std::size_t statement;
  };
  struct PendingClock {
    std::size_t statement;
  };

  Transaction(Connection& connection, Access access) : connection_(connection) {
    connection_.Begin(access);
  }
  ~Transaction() {
    if (!committed_) connection_.Rollback();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Each value is one parameter; a set of columns (columns.hpp) is as many as it has.
  /// REQUIRES: each key at most once in the columns (docs/ground.md, Lanes). With no items nothing
  /// is run and there are no rows.
  template <class... Values>
  Pending Queue(const Query& query, const Values&... values) {
    std::array<Param, (std::size_t{0} + ... + CountOf(static_cast<const Values*>(nullptr)))> params;
    [[maybe_unused]] Param* next = params.data();
    (Add(next, values), ...);
    return {connection_.Send(query, params)};
  }
  PendingClock QueueClock() { return {connection_.SendClock()}; }

  /// The result; sends what is queued if it has not been sent. REQUIRES: taken once.
  Rows Take(Pending pending) { return connection_.Receive(pending.statement); }
  /// The store's time in milliseconds.
  std::int64_t TakeClock(PendingClock pending) {
    return connection_.ReceiveClock(pending.statement);
  }

  template <class... Values>
  Rows Run(const Query& query, const Values&... values) {
    return Take(Queue(query, values...));
  }

  void Commit() {
    connection_.Commit();
    committed_ = true;
  }

 private:
  static constexpr std::size_t CountOf(const void*) { return 1; }
  template <class... Cells>
  static constexpr std::size_t CountOf(const ColumnSet<Cells...>*) {
    return sizeof...(Cells);
  }
  template <class Value>
  static void Add(Param*& next, const Value& value) {
    *next++ = ToParam(value);
  }
  template <class... Cells>
  static void Add(Param*& next, const ColumnSet<Cells...>& set) {
    std::apply([&](const auto&... column) { ((*next++ = ToParam(column)), ...); }, set.columns);
  }

  Connection& connection_;
  bool committed_ = false;
};

}  // namespace tenure::db
