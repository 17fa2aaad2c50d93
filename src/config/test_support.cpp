#include "config/test_support.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.hpp"

namespace tenure::config {

TemporaryFile::TemporaryFile(std::string_view content) : path_("/tmp/tenure-config-XXXXXX") {
  const int file = mkstemp(path_.data());
  TENURE_CHECK(file >= 0, "no temporary file");
  close(file);
  std::ofstream(path_) << content;
}

TemporaryFile::~TemporaryFile() { unlink(path_.c_str()); }

}  // namespace tenure::config
