#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message.hpp"

namespace tenure::http {

/// What a request's header block says about the message around it.
struct Head {
  bool http_1_1 = true;
  bool keep_alive = true;
  bool chunked = false;
  bool expects_continue = false;
  std::uint64_t content_length = 0;
};

struct Refusal {
  Rejection reason = Rejection::kMalformed;
  std::string_view detail;  ///< a literal
};

/// Reads one complete header block (as HeaderScanner found it) into `request`, whose views then
/// point into `block`, and `head`. Beast reads the grammar; what RFC 9112 leaves to the server and
/// what Beast 1.81 is too kind about is checked here. Empty when all is well.
std::optional<Refusal> ParseHead(std::string_view block, Request& request, Head& head);

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
