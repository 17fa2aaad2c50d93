#pragma once

#include <optional>

#include "db/operation.hpp"
#include "inbox/entry.hpp"

namespace tenure::inbox {

struct FindRequest {
  MessageKey key{};
};
struct FindReply {
  std::optional<EntryRow> entry{};
  std::int64_t now_ms = 0;
};

class FindHandler final : public db::TypedHandler<FindRequest, FindReply> {
 public:
  std::string_view name() const override { return "inbox.find"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct CountRequest {};
struct CountReply {
  std::int64_t stuck = 0;
};

/// Claims whose lease passed long ago, and nobody delivered the message again: its source has given
/// it up, or cannot reach us.
class CountHandler final : public db::TypedHandler<CountRequest, CountReply> {
 public:
  std::string_view name() const override { return "inbox.count"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::inbox
