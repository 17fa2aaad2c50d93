#include "db/sqlite/side_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::db::sqlite {
namespace {

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

}  // namespace

std::optional<SideFile> SideFile::Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  SideFile side;
  std::string line;
  if (!(file >> side.mark_ms) || !std::getline(file, line)) return std::nullopt;
  std::istringstream nonces(line);
  for (std::string nonce; nonces >> nonce;) side.nonces.push_back(nonce);
  return side;
}

void SideFile::Write(const std::filesystem::path& path) const {
  const auto draft = std::filesystem::path(path).concat(".new");
  std::string text = std::to_string(mark_ms);
  for (const std::string& nonce : nonces) text += ' ' + nonce;
  text += '\n';
  const Descriptor file(open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  Check(write(file.number, text.data(), text.size()) == static_cast<ssize_t>(text.size()), draft);
  Check(fsync(file.number) == 0, draft);
  Check(rename(draft.c_str(), path.c_str()) == 0, path);
  const Descriptor folder(open(path.has_parent_path() ? path.parent_path().c_str() : ".",
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Check(fsync(folder.number) == 0, path);
}

}  // namespace tenure::db::sqlite
