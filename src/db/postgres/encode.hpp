#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "db/param.hpp"
#include "db/rows.hpp"

namespace tenure::db::postgres {

/// The parameters of one execution in PostgreSQL's binary form: a column is an array (int8[],
/// uuid[], text[]), a single value is itself. Must live until the statement has been handed to
/// libpq (which copies it).
class EncodedParams {
 public:
  explicit EncodedParams(std::span<const Param> params);

  int count() const { return static_cast<int>(values_.size()); }
  const char* const* values() const { return values_.data(); }
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  std::deque<std::string> buffers_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

/// Rows from a binary result. A first column called "ordinal" (1 for the first item, as `with
/// ordinality` counts) becomes each row's ordinal and is not one of its cells.
Rows DecodeRows(const PGresult& result);

}  // namespace tenure::db::postgres
