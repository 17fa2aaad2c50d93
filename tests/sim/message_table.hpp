#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "sim/picture.hpp"

struct sqlite3;

namespace tenure::sim {

/// The tables of messages in a SQLite file, read past all of Tenure's code.
class MessageTable {
 public:
  explicit MessageTable(const std::filesystem::path& file);
  ~MessageTable();
  MessageTable(const MessageTable&) = delete;
  MessageTable& operator=(const MessageTable&) = delete;

  Picture Read();
  void Execute(const std::string& sql);
  /// For the next run: as if nothing had ever been sent.
  void Clear();

 private:
  struct Statement;
  Statement& Prepared(const char* sql);

  sqlite3* database_ = nullptr;
  std::map<const char*, std::unique_ptr<Statement>> statements_;
};

}  // namespace tenure::sim
