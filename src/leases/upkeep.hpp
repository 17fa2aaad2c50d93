#pragma once

#include <string>
#include <vector>

#include "db/operation.hpp"
#include "leases/lease.hpp"

namespace tenure::leases {

struct TicketRef {
  LeaseKey key{};
  base::Uuid term{};
};
struct RefreshRequest {
  std::vector<TicketRef> tickets{};
};
struct RefreshReply {
  std::vector<LeaseKey> free{};  ///< names of them that are free now: somebody should ask
};

/// Keeps the tickets of those who wait in this process alive, all in one statement.
class RefreshHandler final : public db::TypedHandler<RefreshRequest, RefreshReply> {
 public:
  std::string_view name() const override { return "leases.refresh"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

/// Only looks which names are free.
class FreeHandler final : public db::TypedHandler<RefreshRequest, RefreshReply> {
 public:
  std::string_view name() const override { return "leases.free"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct TidyRequest {
  std::int64_t history_ms = 0;    ///< how long past grants are kept
  std::int64_t retention_ms = 0;  ///< how long an unused name is kept
  LeaseKey after{};               ///< where the sweep over the names goes on
};
struct TidyReply {
  std::int64_t rows = 0;  ///< that were deleted
  LeaseKey after{};
  bool has_more = false;
};

/// One bounded batch of forgetting: past grants, dead tickets, names that nobody used for long.
///
/// L2 survives the removal of a name: it is locked, and its fence goes into the tenant's floor in
/// the same transaction; whoever asks for the name next waits for that transaction, makes a new row
/// and starts above the floor.
class TidyHandler final : public db::TypedHandler<TidyRequest, TidyReply> {
 public:
  std::string_view name() const override { return "leases.tidy"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::leases
