#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenure::db::sqlite {

/// How far the side file's mark may lag behind: what a restored copy may be younger than and go
/// unnoticed.
inline constexpr std::int64_t kSideFileEveryMs = 5'000;

/// What stands beside the database file to notice that answered commits were forgotten because an
/// older copy of it was put back (docs/ground.md, Incarnation). It says which nonce the file should
/// have, a clock mark that it had reached, the incarnation of the last start, and which two files
/// they were: the database's and its own, by inode and time of birth. It is written whole and
/// renamed into place, so it is born anew each time.
///
///  - The database file alone is put back: it has an older nonce (a new one is made at every
///    start) or an older mark (noted every few seconds and at a clean stop).
///  - The whole folder is put back: the copies are other files than those that the side file
///    names; also where they were written into the old ones, since then the side file's own birth
///    is not the one that it tells of. That a folder was moved to another file system looks the
///    same, and does no harm.
///  - A copy that is used elsewhere has no side file, or one that names other files.
///
/// The incarnation rises above the one that stands here. So the same copy, put back twice, gives
/// two, as long as the side file was not put back with it.
///
/// What goes unnoticed: a copy of the file that is younger than the last note, after a crash; a
/// snapshot of the whole file system. docs/operating.md says what to do then.
struct SideFile {
  std::vector<std::string> nonces{};  ///< two while the nonce is being changed
  std::int64_t mark_ms = 0;
  std::int64_t incarnation = 0;   ///< 0: written by an older program
  bool is_of_these_files = true;  ///< as read

  /// Whether nothing was forgotten: the database has `nonce` and has reached `mark_ms`.
  bool IsOf(const std::string& nonce, std::int64_t mark_ms) const;

  static std::optional<SideFile> Read(const std::filesystem::path& path,
                                      const std::filesystem::path& database);
  /// On disk when it returns: a power cut must not make a changed nonce look like an old copy.
  /// Throws kStoreUnavailable.
  void Write(const std::filesystem::path& path, const std::filesystem::path& database) const;
};

}  // namespace tenure::db::sqlite
