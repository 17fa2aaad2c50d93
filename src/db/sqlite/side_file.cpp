#include "db/sqlite/side_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::db::sqlite {
namespace {

/// Fences of a higher one would not be exact in JSON.
constexpr std::int64_t kMaxIncarnation = 8'191;

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() { close(number); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

void Check(bool well, const std::filesystem::path& path) {
  if (!well)
    throw base::Fault(base::FaultKind::kStoreUnavailable,
                      fmt::format("cannot write {}: {}", path.string(), strerror(errno)));
}

/// Which file this is: a copy is another one, and so is one that was made anew under the same name.
/// (The number of the device is no part of it: it may change when the machine is started again.)
/// Where the file system does not know when a file was born, its inode must do. "-": there is none.
std::string NameOf(int folder, const char* path, int flags) {
  struct statx file {};
  if (statx(folder, path, flags, STATX_INO | STATX_BTIME, &file) != 0) return "-";
  const bool has_birth = (file.stx_mask & STATX_BTIME) != 0;
  return fmt::format("{}:{}.{:09}", file.stx_ino, has_birth ? file.stx_btime.tv_sec : 0,
                     has_birth ? file.stx_btime.tv_nsec : 0);
}
std::string NameOf(const std::filesystem::path& path) { return NameOf(AT_FDCWD, path.c_str(), 0); }

}  // namespace

bool SideFile::IsOf(const std::string& nonce, std::int64_t reached_ms) const {
  return is_of_these_files && mark_ms <= reached_ms &&
         std::find(nonces.begin(), nonces.end(), nonce) != nonces.end();
}

/// Its first line has the mark and the nonces, the second the two files, the third the incarnation.
/// (Older programs wrote one line or two.)
std::optional<SideFile> SideFile::Read(const std::filesystem::path& path,
                                       const std::filesystem::path& database) {
  std::ifstream file(path);
  SideFile side;
  std::string line;
  if (!(file >> side.mark_ms) || !std::getline(file, line)) return std::nullopt;
  std::istringstream nonces(line);
  for (std::string nonce; nonces >> nonce;) side.nonces.push_back(nonce);
  std::string own, its;
  if (file >> own >> its) side.is_of_these_files = own == NameOf(path) && its == NameOf(database);
  if (!(file >> side.incarnation) || side.incarnation < 0 || side.incarnation > kMaxIncarnation)
    side.incarnation = 0;
  return side;
}

void SideFile::Write(const std::filesystem::path& path,
                     const std::filesystem::path& database) const {
  const auto draft = std::filesystem::path(path).concat(".new");
  std::string text = std::to_string(mark_ms);
  for (const std::string& nonce : nonces) text += ' ' + nonce;
  // Born now: what a crash left of a draft would be older.
  unlink(draft.c_str());
  const Descriptor file(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  text += fmt::format("\n{} {}\n{}\n", NameOf(file.number, "", AT_EMPTY_PATH), NameOf(database),
                      incarnation);
  Check(write(file.number, text.data(), text.size()) == static_cast<ssize_t>(text.size()), draft);
  Check(fsync(file.number) == 0, draft);
  Check(rename(draft.c_str(), path.c_str()) == 0, path);
  const Descriptor folder(open(path.has_parent_path() ? path.parent_path().c_str() : ".",
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Check(fsync(folder.number) == 0, path);
}

}  // namespace tenure::db::sqlite
