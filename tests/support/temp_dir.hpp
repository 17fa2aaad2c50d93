#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace tenure::support {

/// Where a temporary folder lies. TMPDIR, when it is set, stands for both.
enum class Storage {
  kDisk,    ///< /tmp
  kMemory,  ///< /dev/shm if there is plenty of room, /tmp otherwise: for many small files
};

/// A folder of its own, removed with everything in it at the end.
///
/// The folder is locked while this object lives. A test program that was killed cannot remove its
/// folders; the next program that makes one removes those that nobody has locked any more, so they
/// never pile up.
class TempDir {
 public:
  explicit TempDir(Storage storage = Storage::kDisk);
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  /// Only its owner can look into a new folder. This makes it readable for everybody.
  void AllowReading();
  /// Hands the folder itself, not what is in it already, to another user. REQUIRES: we are root.
  void GiveTo(uid_t uid, gid_t gid);

 private:
  std::filesystem::path path_;
  int lock_ = -1;  // open on the folder and locked; the kernel lets go when we die
  pid_t owner_;    // a forked child that exits must not remove its parent's folder
};

/// Removes the folders that killed test programs left under `root`. Ones younger than a minute are
/// left alone: their maker may not have locked them yet. `TempDir` does it once per program.
void RemoveAbandonedTempDirs(const std::filesystem::path& root, int least_age_s = 60);

}  // namespace tenure::support
