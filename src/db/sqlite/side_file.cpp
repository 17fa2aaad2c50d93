#include "db/sqlite/side_file.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::db::sqlite {

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
  {
    std::ofstream file(draft, std::ios::trunc);
    file << mark_ms;
    for (const std::string& nonce : nonces) file << ' ' << nonce;
    file << '\n';
    file.close();
    if (!file)
      throw base::Fault(base::FaultKind::kStoreUnavailable,
                        fmt::format("cannot write {}", draft.string()));
  }
  std::filesystem::rename(draft, path);
}

}  // namespace tenure::db::sqlite
