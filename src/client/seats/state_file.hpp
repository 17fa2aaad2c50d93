#pragma once

#include <optional>
#include <string>

namespace tenure::client {

/// What a holder remembers for the one after it. The licence's key is not in it.
struct SeatMemory {
  std::string machine_id{};
  std::string session_id{};  ///< empty: nothing is held
};

/// A file that one holder at a time has: whoever opens it knows that those before are over.
///
///  - Locked while this object lives, by a file beside it (`PATH.lock`): the file itself is replaced
///    with each write, and a lock on what was replaced would be worth nothing.
///  - Written to a file of its own, flushed, and renamed: a crash leaves the old one or the new one.
///  - Readable by its owner alone.
///  - In a child of this process the lock is given up, and the parent keeps it.
///
/// Threads: one at a time.
class StateFile {
 public:
  /// Throws seats::StateFileError when it cannot be had.
  explicit StateFile(std::string path);
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  /// What was written last; a file that is not there, or is none of ours, says nothing.
  const SeatMemory& memory() const { return memory_; }
  /// Throws seats::StateFileError.
  void Write(const SeatMemory& memory);

 private:
  SeatMemory Read() const;

  const std::string path_;
  int lock_ = -1;
  SeatMemory memory_{};
};

}  // namespace tenure::client
