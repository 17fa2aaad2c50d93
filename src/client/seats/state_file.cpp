#include "client/seats/state_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/read_file.hpp"
#include "client/seats/fork_guard.hpp"
#include "tenure/seats/errors.hpp"

namespace tenure::client {
namespace {

constexpr std::size_t kMaxStateBytes = 4'096;

[[noreturn]] void FailState(const std::string& path, std::string_view what) {
  throw seats::StateFileError(
      fmt::format("the state file {} cannot be {}: {}", path, what, std::strerror(errno)), false);
}

void WriteAll(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) FailState(path, "written");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// A name in a folder lasts when the folder was flushed, too. Where that cannot be done it lasts
/// until the power fails.
void FlushFolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

std::string StateText(const SeatMemory& memory) {
  std::string text;
  base::JsonWriter json(text);
  json.BeginObject()
      .Field("machine_id", std::string_view(memory.machine_id))
      .Field("session_id", std::string_view(memory.session_id))
      .EndObject();
  return text + "\n";
}

std::string StateField(const simdjson::dom::object& object, std::string_view name) {
  std::string_view text;
  return object[name].get_string().get(text) ? std::string() : std::string(text);
}

}  // namespace

StateFile::StateFile(std::string path) : path_(std::move(path)) {
  WatchForks();
  const std::string lock_path = path_ + ".lock";
  lock_ = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) FailState(path_, "locked");
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const bool taken = errno == EWOULDBLOCK;
    const int error = errno;
    close(lock_);
    errno = error;
    if (!taken) FailState(path_, "locked");
    throw seats::StateFileError(
        fmt::format("the state file {} is in use: another holder has it. Give each process that "
                    "wants a seat a file and an instance of its own",
                    path_),
        false);
  }
  CloseAfterFork(lock_);
  memory_ = Read();
}

StateFile::~StateFile() {
  ForgetAfterFork(lock_);
  close(lock_);
}

SeatMemory StateFile::Read() const {
  if (access(path_.c_str(), F_OK) != 0) return {};
  try {
    const std::string text = base::ReadWholeFile(path_, kMaxStateBytes);
    simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parser.parse(text).get_object().get(object)) return {};
    return {.machine_id = StateField(object, "machine_id"),
            .session_id = StateField(object, "session_id")};
  } catch (const base::UserError& error) {
    throw seats::StateFileError(fmt::format("the state file {}: {}", path_, error.what()), false);
  }
}

void StateFile::Write(const SeatMemory& memory) {
  const std::string fresh = path_ + ".new";
  unlink(fresh.c_str());  // of a process that died here; the lock says that nobody else writes it
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) FailState(path_, "written");
  try {
    WriteAll(fd, StateText(memory), path_);
    if (fsync(fd) != 0) FailState(path_, "written");
  } catch (...) {
    close(fd);
    throw;
  }
  close(fd);
  if (rename(fresh.c_str(), path_.c_str()) != 0) FailState(path_, "replaced");
  FlushFolderOf(path_);
  memory_ = memory;
}

}  // namespace tenure::client
