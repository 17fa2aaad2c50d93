#include "http/header_scanner.hpp"

namespace tenure::http {

HeaderScanner::Result HeaderScanner::Scan(std::string_view bytes) {
  while (true) {
    const std::size_t end = bytes.find('\n', looked_);
    if (end == std::string_view::npos) {
      looked_ = bytes.size();
      return Result::kMore;
    }
    if (end == line_ || bytes[end - 1] != '\r') return Result::kBadLine;
    const std::string_view line = bytes.substr(line_, end - 1 - line_);
    line_ = looked_ = end + 1;
    if (line.empty()) return Result::kEnd;
    if (line.front() == ' ' || line.front() == '\t') return Result::kFolded;
    if (line.find('\r') != std::string_view::npos || line.find('\0') != std::string_view::npos)
      return Result::kBadLine;
  }
}

}  // namespace tenure::http
