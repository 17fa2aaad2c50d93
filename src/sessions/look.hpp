#pragma once

#include <optional>
#include <vector>

#include "db/operation.hpp"
#include "sessions/session.hpp"

namespace tenure::sessions {

struct FindRequest {
  base::Uuid id;
};

struct FindReply {
  std::optional<Session> session;
  std::int64_t now_ms = 0;
};

/// GET /sessions/{id}, in batches.
class FindHandler final : public db::TypedHandler<FindRequest, FindReply> {
 public:
  std::string_view name() const override { return "sessions.find"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct ListRequest {
  std::optional<base::Uuid> user = {};
  std::optional<base::Uuid> tenant = {};
  std::optional<base::Uuid> capacity = {};
  std::optional<bool> active = {};
  std::optional<base::Uuid> after = {};  ///< the last id of the page before
  std::int64_t limit = 100;
};

struct ListReply {
  std::vector<Session> sessions;
  bool has_more = false;
  std::int64_t now_ms = 0;
};

/// GET /sessions. Each list is a query of its own; the batch shares the flush.
class ListHandler final : public db::TypedHandler<ListRequest, ListReply> {
 public:
  std::string_view name() const override { return "sessions.list"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct CountRequest {};
struct CountReply {
  std::int64_t active = 0;
};

/// The gauge of active sessions.
class CountHandler final : public db::TypedHandler<CountRequest, CountReply> {
 public:
  std::string_view name() const override { return "sessions.count"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::sessions
