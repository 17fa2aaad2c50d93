#include "db/sqlite/private_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/uuid.hpp"

namespace tenure::db::sqlite {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Refuse(const fs::path& directory, const std::string& why) {
  throw base::UserError(fmt::format("Cannot use the folder {}: {}.\nChoose another with --data.",
                                    directory.string(), why));
}

}  // namespace

void UsePrivateFolder(const fs::path& directory) {
  std::error_code error;
  const fs::path parent = fs::absolute(directory, error).lexically_normal().parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  // Made with its rights at once: nobody looks in between.
  if (mkdir(directory.c_str(), 0700) == 0) return;
  if (errno != EEXIST) Refuse(directory, strerror(errno));
  struct stat found {};
  if (stat(directory.c_str(), &found) != 0) Refuse(directory, strerror(errno));
  if (!S_ISDIR(found.st_mode)) Refuse(directory, "it is no folder");
  if (found.st_uid != geteuid())
    Refuse(directory, fmt::format("it belongs to another user ({})", found.st_uid));
}

void MakePrivateFile(const fs::path& path) {
  if (access(path.c_str(), F_OK) == 0) return;
  // Under a name of its own, and never opened by its real one: whoever closes a file drops all
  // POSIX locks that its process has on it, those of SQLite's connections among them.
  const fs::path draft = fs::path(path).concat("." + base::RandomHex(8) + ".new");
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
  const bool made = file >= 0 && link(draft.c_str(), path.c_str()) == 0;
  const int error = errno;
  if (file >= 0) unlink(draft.c_str());
  if (made || error == EEXIST) return;
  // A file system without links has no rights to give either: SQLite makes the file.
  if (file >= 0 && (error == EPERM || error == EOPNOTSUPP)) return;
  throw base::UserError(fmt::format("Cannot write {}: {}.\nChoose another folder with --data.",
                                    path.string(), strerror(error)));
}

}  // namespace tenure::db::sqlite
