#pragma once

#include <optional>
#include <string>

#include "db/page.hpp"
#include "leases/lease.hpp"

namespace tenure::leases {

struct FindRequest {
  LeaseKey key{};
  std::int64_t history = 0;  ///< how many past grants to tell of

  std::size_t bytes() const { return key.bytes(); }
};
struct FindReply {
  std::optional<LeaseView> lease{};
};

class FindHandler final : public db::LookHandler<FindRequest, FindReply> {
 public:
  std::string_view name() const override { return "leases.find"; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

struct PageRequest : ListRequest {
  std::string tenant{};

  std::size_t bytes() const { return db::BytesOf(prefix, holder, after, tenant); }
};
using PageReply = db::Page<LeaseView>;

class ListHandler final : public db::LookHandler<PageRequest, PageReply> {
 public:
  std::string_view name() const override { return "leases.list"; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;

 private:
  /// Of one row more than the page has.
  static db::Transaction::Pending QueuePage(db::Transaction& tx, const PageRequest& request,
                                            std::int64_t now_ms);
  /// A second look: the names of a page are known when it has been read.
  static void LookForGuards(db::Transaction& tx, const std::string& tenant, PageReply& page);
};

struct CountRequest {};
struct CountReply {
  std::int64_t active = 0;
};

class CountHandler final : public db::LookHandler<CountRequest, CountReply> {
 public:
  std::string_view name() const override { return "leases.count"; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::leases
