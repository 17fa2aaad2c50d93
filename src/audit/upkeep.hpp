#pragma once

#include "db/operation.hpp"

namespace tenure::audit {

struct ForgetRequest {
  std::int64_t retention_ms = 0;
};
struct ForgetReply {
  std::int64_t rows = 0;
  bool has_more = false;  ///< the batch was full
};

/// The retention's way, and the only one that the store lets through: raises the bound before which
/// entries may be missing, then removes a batch of those before it.
class ForgetHandler final : public db::TypedHandler<ForgetRequest, ForgetReply> {
 public:
  std::string_view name() const override { return "audit.forget"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::audit
