#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/message.hpp"
#include "http/rejection.hpp"

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

}  // namespace tenure::http
