#include "base/read_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::base {

std::string ReadWholeFile(const std::string& path, std::size_t most_bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (!file) throw UserError(fmt::format("cannot be read: {}", std::strerror(errno)));
  std::string content(most_bytes + 1, '\0');
  content.resize(std::fread(content.data(), 1, content.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    throw UserError(fmt::format("cannot be read: {}", std::strerror(errno)));
  if (content.size() > most_bytes)
    throw UserError(fmt::format("is larger than {}KiB", most_bytes / 1'024));
  return content;
}

}  // namespace tenure::base
