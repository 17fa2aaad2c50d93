#pragma once

#include <cstdint>
#include <string_view>

#include "db/sweep.hpp"
#include "leases/lease.hpp"

namespace tenure::leases {

struct TidyRequest {
  std::int64_t history_ms = 0;    ///< how long past grants are kept
  std::int64_t retention_ms = 0;  ///< how long an unused name is kept
  LeaseKey after{};               ///< where the sweep over the names goes on

  std::size_t bytes() const { return after.bytes(); }
};
struct TidyReply : db::Swept {
  LeaseKey after{};
};

/// One bounded batch of forgetting: past grants, dead tickets, names that nobody used for long.
///
/// L2 survives the removal of a name: it is locked, and its fence goes into the tenant's floor in
/// the same transaction; whoever asks for the name next waits for that transaction, makes a new row
/// and starts above the floor.
class TidyHandler final : public db::SweepHandler<TidyRequest, TidyReply> {
 public:
  std::string_view name() const override { return "leases.tidy"; }

 protected:
  TidyReply Sweep(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms) override;
};

}  // namespace tenure::leases
