#include "db/sqlite/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace tenure::db::sqlite {
namespace {

using base::Fault;
using base::FaultKind;

constexpr std::int64_t kPatienceMs = 10'000;
constexpr auto kBetweenTries = std::chrono::milliseconds(2);

int OpenLockFile(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0)
    throw Fault(FaultKind::kStoreUnavailable,
                fmt::format("cannot open {}: {}", path.string(), strerror(errno)));
  return descriptor;
}

}  // namespace

// flock(2) itself cannot be told to give up, and its holder may be a process that was stopped.
FileLock::FileLock(const std::filesystem::path& path) : descriptor_(OpenLockFile(path)) {
  const std::int64_t deadline = base::SystemClock().BootMs() + kPatienceMs;
  while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (base::SystemClock().BootMs() >= deadline) {
      close(descriptor_);
      throw Fault(FaultKind::kContended,
                  fmt::format("another process holds {} for too long", path.string()));
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

std::optional<FileLock> FileLock::Try(const std::filesystem::path& path) {
  FileLock lock(OpenLockFile(path));
  if (flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) return std::nullopt;
  return lock;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

}  // namespace tenure::db::sqlite
