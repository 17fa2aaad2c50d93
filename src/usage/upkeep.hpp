#pragma once

#include <vector>

#include "db/operation.hpp"
#include "usage/window.hpp"

namespace tenure::usage {

inline constexpr std::int64_t kForgetBatch = 500;

struct SettleRequest {
  std::int64_t retention_ms = 0;  ///< of windows
};
struct SettleReply {
  std::int64_t rows = 0;
  bool has_more = false;
};

/// Notes until when all usage is acknowledged (sessions/bounds.hpp), which lets sessions be
/// removed, and forgets old windows.
class SettleHandler final : public db::TypedHandler<SettleRequest, SettleReply> {
 public:
  std::string_view name() const override { return "usage.settle"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

struct SendRequest {
  std::int64_t from = 1;
};
struct SendReply {
  std::int64_t windows = 0;
};

/// Windows that were closed while there was no endpoint are sent after all; not those of whose time
/// sessions may have been removed. Under the lock of the bounds, so none is removed meanwhile, and
/// afterwards the windows count as not settled.
class SendHandler final : public db::TypedHandler<SendRequest, SendReply> {
 public:
  std::string_view name() const override { return "usage.send"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::usage
