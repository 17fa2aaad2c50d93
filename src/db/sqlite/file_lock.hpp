#pragma once

#include <filesystem>
#include <optional>

namespace tenure::db::sqlite {

/// Holds flock(2) on a file of its own for as long as it lives; the kernel lets go of it when the
/// process dies. Two locks of one process exclude each other like those of two. The file stays: to
/// remove it would let two hold "the" lock.
class FileLock {
 public:
  /// Waits, for ten seconds at most: throws kContended. kStoreUnavailable when there is no writing
  /// there.
  explicit FileLock(const std::filesystem::path& path);
  /// Only if it is free.
  static std::optional<FileLock> Try(const std::filesystem::path& path);

  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace tenure::db::sqlite
