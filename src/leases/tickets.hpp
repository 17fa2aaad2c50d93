#pragma once

#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "db/operation.hpp"
#include "leases/lease.hpp"

namespace tenure::leases {

struct TicketRef {
  LeaseKey key{};
  base::Uuid term{};

  std::size_t bytes() const { return key.bytes(); }
};
struct RefreshRequest {
  std::vector<TicketRef> tickets{};

  std::size_t bytes() const { return db::BytesOf(tickets); }
};
struct RefreshReply {
  std::vector<LeaseKey> free{};  ///< names of them that are free now: somebody should ask
};

/// Keeps the tickets of those who wait in this process alive, all in one statement.
class RefreshHandler final : public db::TypedHandler<RefreshRequest, RefreshReply> {
 public:
  std::string_view name() const override { return "leases.refresh"; }
  db::LaneName lane() const override { return db::LaneName::Shared(0); }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

/// Only looks which names are free.
class FreeHandler final : public db::LookHandler<RefreshRequest, RefreshReply> {
 public:
  std::string_view name() const override { return "leases.free"; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::leases
