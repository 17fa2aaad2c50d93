#pragma once

#include "db/operation.hpp"
#include "sessions/probe.hpp"
#include "sessions/rules.hpp"

namespace tenure::sessions {

/// PUT /sessions, in batches. The look answers requests whose session is active already: they take
/// no lock and write nothing. The others go through the key's lock.
class PutHandler final : public db::TypedHandler<PutRequest, PutReply> {
 public:
  PutHandler(std::int64_t duration_ms, Probe& probe) : duration_ms_(duration_ms), probe_(probe) {}

  std::string_view name() const override { return "sessions.put"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::int64_t duration_ms_;
  Probe& probe_;
};

}  // namespace tenure::sessions
