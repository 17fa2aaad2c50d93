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
  std::size_t KeyHash(const PutRequest& put) const override { return sessions::KeyHash()(put.key); }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::int64_t duration_ms_;
  Probe& probe_;
};

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
  std::size_t KeyHash(const EndRequest& end) const override { return sessions::KeyHash()(end.key); }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  Probe& probe_;
};

}  // namespace tenure::sessions
