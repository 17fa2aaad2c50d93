#pragma once

#include <optional>

#include "base/uuid.hpp"

namespace tenure::db {

/// Where a page begins of a list by ids: behind the last one of the page before, else before all.
/// Always a value, so that the bound of an index stands in the query as it is.
inline base::Uuid Behind(const std::optional<base::Uuid>& last, bool descending) {
  if (last) return *last;
  base::Uuid begin;
  if (descending) begin.bytes.fill(0xFF);
  return begin;
}

}  // namespace tenure::db
