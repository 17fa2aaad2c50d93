#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tenure::db::sqlite {

/// What stands beside the database file to notice that the file was replaced by an older copy (spec
/// 05, Incarnation): the nonce that the file should have, and a clock mark that it had reached. The
/// file is written whole and renamed into place.
///
/// A copy of the database that is put back has an older nonce (a new one is made at every start) or
/// an older mark (noted every few seconds); a copy that is used elsewhere has no side file at all.
struct SideFile {
  std::vector<std::string> nonces;  ///< two while the nonce is being changed
  std::int64_t mark_ms = 0;

  static std::optional<SideFile> Read(const std::filesystem::path& path);
  /// On disk when it returns: a power cut must not make a changed nonce look like an old copy.
  /// Throws kStoreUnavailable.
  void Write(const std::filesystem::path& path) const;
};

}  // namespace tenure::db::sqlite
