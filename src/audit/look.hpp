#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "audit/entry.hpp"
#include "db/operation.hpp"

namespace tenure::audit {

struct ListRequest {
  static constexpr std::int64_t kForEver = std::numeric_limits<std::int64_t>::max();

  // Empty: any.
  std::string tenant{};
  std::string person{};
  std::string act{};
  std::string object{};
  std::int64_t from_ms = 0;
  std::int64_t to_ms = kForEver;  ///< not itself
  std::optional<Place> before{};  ///< the last one of the page before
  std::int64_t limit = 100;
};

struct ListReply {
  std::vector<Entry> entries{};
  bool has_more = false;
};

/// Pages of the audit, newest first. Each list is a query of its own, by the index of the filter
/// that leaves least; what else was asked for is compared row by row.
class ListHandler final : public db::TypedHandler<ListRequest, ListReply> {
 public:
  std::string_view name() const override { return "audit.list"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::audit
