#pragma once

#include <cstdint>
#include <string>

#include "db/operation.hpp"

namespace tenure::db {

struct BeatRequest {
  std::string process{};

  std::size_t bytes() const { return process.size(); }
};
struct BeatReply {
  std::int64_t now_ms = 0;
  /// Until when at least one name may be frozen (docs/ground.md, Incarnation), at most; 0: none is.
  std::int64_t frozen_until_ms = 0;
};

/// Writes that this process is there, and reads what everybody should know of the store.
class BeatHandler final : public TypedHandler<BeatRequest, BeatReply> {
 public:
  std::string_view name() const override { return "store.beat"; }
  LaneName lane() const override { return LaneName::Shared(0); }

 protected:
  void WriteItems(Transaction& tx, Items items) override;
};

struct FreezeRequest {};
struct FreezeReply {
  std::int64_t frozen_until_ms = 0;  ///< of the names that are there; in the past: none is frozen
};

/// The same exactly: what is known of the whole store never falls, also when the name with the
/// long ttl is gone. Looks at all names, so it is for a store that may be frozen.
class FreezeHandler final : public LookHandler<FreezeRequest, FreezeReply> {
 public:
  std::string_view name() const override { return "store.freeze"; }

 protected:
  void ReadItems(Transaction& tx, Items items) override;
};

}  // namespace tenure::db
