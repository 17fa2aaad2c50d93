#pragma once

#include <cstddef>
#include <string_view>

namespace tenure::http {

/// Finds the end of a request's header block as its bytes arrive, and refuses on the way what two
/// HTTP implementations could read differently: a line that does not end with CR LF, a CR or NUL
/// inside a line, a folded line. Beast lets some of these through. Each byte is looked at once.
class HeaderScanner {
 public:
  enum class Result { kMore, kEnd, kBadLine, kFolded };

  /// `bytes` starts with the request line and only grows from call to call.
  Result Scan(std::string_view bytes);

  /// After kEnd: how long the block is, its empty last line included.
  std::size_t size() const { return line_; }

  void Reset() { *this = HeaderScanner(); }

 private:
  std::size_t line_ = 0;    // where the line begins that has not ended yet
  std::size_t looked_ = 0;  // how far that line has been searched for its end
};

}  // namespace tenure::http
