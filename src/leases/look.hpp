#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/operation.hpp"
#include "leases/lease.hpp"

namespace tenure::leases {

struct FindRequest {
  LeaseKey key{};
  std::int64_t history = 0;  ///< how many past grants to tell of
};
struct FindReply {
  std::optional<LeaseView> lease{};
};

class FindHandler final : public db::TypedHandler<FindRequest, FindReply> {
 public:
  std::string_view name() const override { return "leases.find"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct PageRequest {
  std::string tenant{};
  ListRequest list{};
};
struct PageReply {
  std::vector<LeaseView> leases{};
  bool has_more = false;
};

class ListHandler final : public db::TypedHandler<PageRequest, PageReply> {
 public:
  std::string_view name() const override { return "leases.list"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct CountRequest {};
struct CountReply {
  std::int64_t active = 0;
};

class CountHandler final : public db::TypedHandler<CountRequest, CountReply> {
 public:
  std::string_view name() const override { return "leases.count"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::leases
