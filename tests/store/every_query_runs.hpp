#pragma once

#include <span>

#include <gtest/gtest.h>

#include "db/query.hpp"

namespace tenure::store {

/// Fails, after all tests of a program, for a query that none of them ran on one of its engines: it
/// is dead there, or not tested. It does not take Tenure's word for what ran: it listens to libpq
/// and SQLite.
///
///   const auto* const every_query_runs =
///       testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));
class EveryQueryRuns final : public testing::Environment {
 public:
  explicit EveryQueryRuns(std::span<const db::Query* const> queries) : queries_(queries) {}
  void SetUp() override;
  void TearDown() override;

 private:
  const std::span<const db::Query* const> queries_;
};

}  // namespace tenure::store
