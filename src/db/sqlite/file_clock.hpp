#pragma once

#include <cstdint>
#include <string>

#include "db/query.hpp"

namespace tenure::db::sqlite {

/// The clock of a store in a file, as its connections see it: they read it inside of a transaction,
/// after its lock was taken, and store a mark of it with their commits. Thread-safe.
class FileClock {
 public:
  /// What is stored of it: a reading, and when on which boot of the machine it was taken.
  struct Mark {
    std::int64_t now_ms = 0;
    std::int64_t boot_ms = 0;
    std::string boot_id;
  };

  virtual ~FileClock() = default;
  virtual std::int64_t NowMs() = 0;
  virtual Mark TakeMark() = 0;
  /// Stores a mark (parameters as in write_clock_mark.sql) and returns a row; none when the file is
  /// not this clock's to write any more.
  virtual const Query& mark_query() const = 0;
  /// Whether a mark is stored even by a transaction that changed nothing.
  virtual bool marks_every_commit() const = 0;
};

/// The kernel makes a new one each time the machine starts; empty when it does not tell.
std::string MachineBootId();

}  // namespace tenure::db::sqlite
