#pragma once

#include "db/operation.hpp"
#include "sessions/probe.hpp"
#include "sessions/session.hpp"

namespace tenure::sessions {

/// The key was found by id before: it decides the lane and the lock.
struct EndRequest {
  base::Uuid id;
  Key key;
};

struct EndReply {
  bool ended_now = false;  ///< false: it had ended already
};

/// DELETE /sessions/{id}, in batches.
class EndHandler final : public db::TypedHandler<EndRequest, EndReply> {
 public:
  explicit EndHandler(Probe& probe) : probe_(probe) {}
  std::string_view name() const override { return "sessions.end"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  Probe& probe_;
};

}  // namespace tenure::sessions
