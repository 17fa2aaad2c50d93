#include "db/sqlite/private_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.hpp"

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
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    throw base::UserError(fmt::format("Cannot write {}: {}.\nChoose another folder with --data.",
                                      path.string(), strerror(errno)));
  close(file);
}

}  // namespace tenure::db::sqlite
