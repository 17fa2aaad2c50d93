#pragma once

#include <filesystem>
#include <memory>
#include <string>

struct sqlite3;

namespace tenure::api {

/// An SQLite file, past the server. To open one and read its schema costs more than most statements.
class SqliteFile {
 public:
  explicit SqliteFile(const std::filesystem::path& file);
  /// The first value of the result as text. What fails leaves no transaction open.
  std::string Execute(const std::string& sql);

 private:
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> database_;
};

}  // namespace tenure::api
