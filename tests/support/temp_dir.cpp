#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <system_error>

#include "support/system_call.hpp"

namespace tenure::support {
namespace {

constexpr std::string_view kPrefix = "tenure-test-";

constexpr const char* kMemoryRoot = "/dev/shm";
constexpr std::uintmax_t kPlentyOfRoom = std::uintmax_t{4} << 30;

std::filesystem::path TempRoot(Storage storage) {
  const char* configured = std::getenv("TMPDIR");
  if (configured != nullptr && *configured != '\0') return configured;
  std::error_code absent;
  if (storage == Storage::kMemory && access(kMemoryRoot, W_OK) == 0 &&
      std::filesystem::space(kMemoryRoot, absent).available >= kPlentyOfRoom && !absent) {
    return kMemoryRoot;
  }
  return "/tmp";
}

}  // namespace

void RemoveAbandonedTempDirs(const std::filesystem::path& root, int least_age_s) {
  std::error_code ignored;  // somebody else may be removing the same folders
  for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const int fd = open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat status {};
    if (fstat(fd, &status) == 0 && status.st_ctime + least_age_s <= std::time(nullptr) &&
        flock(fd, LOCK_EX | LOCK_NB) == 0) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
    close(fd);
  }
}

TempDir::TempDir(Storage storage) : owner_(getpid()) {
  static std::once_flag swept;
  std::call_once(swept, [] {
    RemoveAbandonedTempDirs(TempRoot(Storage::kDisk));
    RemoveAbandonedTempDirs(TempRoot(Storage::kMemory));
  });
  const auto root = TempRoot(storage);

  std::string name = root / (std::string(kPrefix) + "XXXXXX");
  if (mkdtemp(name.data()) == nullptr) ThrowErrno("mkdtemp " + name);
  path_ = name;
  lock_ = Checked(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + name);
  Checked(flock(lock_, LOCK_EX | LOCK_NB), "flock " + name);
}

TempDir::~TempDir() {
  if (getpid() != owner_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  close(lock_);
}

void TempDir::AllowReading() { Checked(chmod(path_.c_str(), 0755), "chmod"); }

void TempDir::GiveTo(uid_t uid, gid_t gid) { Checked(chown(path_.c_str(), uid, gid), "chown"); }

}  // namespace tenure::support
