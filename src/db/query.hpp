#pragma once

#include <string_view>

namespace tenure::db {

/// One named query with its text for each engine, embedded from a pair of .sql files
/// (cmake/TenureModule.cmake, tenure_embed_sql). The name is its label in metrics and traces. Where
/// an engine has no file the text is empty, and running the query there does nothing and returns no
/// rows.
struct Query {
  std::string_view name;
  std::string_view postgres;
  std::string_view sqlite;
};

}  // namespace tenure::db
