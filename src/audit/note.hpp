#pragma once

#include "db/operation.hpp"

namespace tenure::audit {

struct NoteRequest {
  db::Deed deed{};
};
struct NoteReply {};

/// Changes nothing but the audit: for what happened and was no change (a refusal). The row is the
/// recorder's, as every other.
class NoteHandler final : public db::TypedHandler<NoteRequest, NoteReply> {
 public:
  std::string_view name() const override { return "audit.note"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::audit
