#include "api/sqlite_file.hpp"

#include <stdexcept>

#include <sqlite3.h>

namespace tenure::api {

SqliteFile::SqliteFile(const std::filesystem::path& file) : database_(nullptr, &sqlite3_close) {
  sqlite3* raw = nullptr;
  const int opened = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE, nullptr);
  database_.reset(raw);
  if (opened != SQLITE_OK) throw std::runtime_error("cannot open " + file.string());
  sqlite3_busy_timeout(raw, 10'000);
}

std::string SqliteFile::Execute(const std::string& sql) {
  std::string first;
  const auto keep = [](void* out, int columns, char** values, char**) {
    auto& text = *static_cast<std::string*>(out);
    if (columns > 0 && values[0] != nullptr && text.empty()) text = values[0];
    return 0;
  };
  if (sqlite3_exec(database_.get(), sql.c_str(), keep, &first, nullptr) == SQLITE_OK) return first;
  const std::string refusal = sqlite3_errmsg(database_.get());
  if (sqlite3_get_autocommit(database_.get()) == 0)
    sqlite3_exec(database_.get(), "rollback", nullptr, nullptr, nullptr);
  throw std::runtime_error(refusal + " in: " + sql);
}

}  // namespace tenure::api
