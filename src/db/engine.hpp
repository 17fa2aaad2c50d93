#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"
#include "db/feed.hpp"

namespace tenure::db {

/// One transaction of maintenance (migrations, incarnation, shared settings), alone in the whole
/// ensemble: it holds the store's maintenance lock from its beginning to its end. Values are text
/// in both directions. Rolled back unless committed. Throws base::Fault.
class Maintenance {
 public:
  using TextRows = std::vector<std::vector<std::string>>;

  virtual ~Maintenance() = default;
  /// Any number of statements, without parameters.
  virtual void Execute(std::string_view script) = 0;
  virtual TextRows Run(const Query& query, const std::vector<std::string>& params = {}) = 0;
  /// The store's time in milliseconds.
  virtual std::int64_t NowMs() = 0;
  virtual void Commit() = 0;
};

/// What a new incarnation brings (docs/ground.md, Incarnation).
struct FreezePolicy {
  std::int64_t freeze_ms = 60'000;  ///< for how long at least a name is not granted
  /// The operator's word that a promoted standby has lost nothing: it freezes nothing.
  bool failover_keeps_commits = false;
};

/// What is different between the stores, besides the texts of the queries.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;  ///< "sqlite" or "postgres"
  /// For people: where the data is; never with a password.
  virtual std::string place() const = 0;
  /// How many lanes may write at once; 0: as many as configured.
  virtual int max_write_lanes() const = 0;
  /// A connection that is not open yet.
  virtual std::unique_ptr<Connection> NewConnection(Access access) = 0;
  virtual std::unique_ptr<Maintenance> BeginMaintenance() = 0;
  /// News of what other processes commit; null when there are no other processes, or no way to hear
  /// of them (then whoever waits polls).
  virtual std::unique_ptr<Feed> NewFeed(FeedEvents events) = 0;
  /// Which of the texts of a migration or query is ours.
  virtual std::string_view TextOf(const Query& query) const = 0;

  /// Compares the store with what is known of it (docs/ground.md, Incarnation) and raises the
  /// incarnation where commits may have been forgotten. After migrations, before lanes.
  virtual void CheckIdentity() = 0;
  /// Whether what was answered survives a failover. Any thread.
  virtual bool SurvivesFailover() const { return true; }
  /// As last seen: by CheckIdentity, and on PostgreSQL on each new connection. Any thread.
  virtual std::int64_t incarnation() const = 0;
};

}  // namespace tenure::db
