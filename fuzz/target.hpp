#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "http/message.hpp"

// What the fuzzers of targets/ have in common. Each of them defines LLVMFuzzerTestOneInput, gives
// the bytes to one reader of the program, and demands with TENURE_CHECK what must hold whatever the
// bytes are. A failed check, an exception that leaves the target, a finding of a sanitizer, and
// more than a few seconds or too much memory for one input are what libFuzzer reports.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tenure::fuzz {

inline std::string_view AsText(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A body as a request has it: Request::kBodyPadding readable bytes follow that are not its own.
/// They are such as would be taken for more of it by a reader that goes too far.
class PaddedBody {
 public:
  explicit PaddedBody(std::string_view text) : bytes_(text), size_(text.size()) {
    bytes_.append(http::Request::kBodyPadding, '}');
  }
  std::string_view view() const { return std::string_view(bytes_).substr(0, size_); }

 private:
  std::string bytes_;
  std::size_t size_;
};

/// A refusal must itself be an answer that every client can read: UTF-8, one JSON object, with that status.
void CheckRefusal(const http::ProblemError& error, int status = 400);

}  // namespace tenure::fuzz
