#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::http {

/// Takes the chunked coding (RFC 9112, 7.1) off a body, in whatever pieces it arrives. Written out
/// here because Beast's own reader hands trailers to the same callback as headers and needs a whole
/// chunk line in its buffer. Strict where leniency helps smuggling: every line ends with CR LF, a
/// size is hexadecimal digits and nothing else. Extensions and trailers are bounded and ignored.
class ChunkDecoder {
 public:
  enum class Result { kMore, kDone, kBad, kTooLarge };

  /// Takes what it can off the front of `input` and appends the body's bytes to `body`, which grows
  /// to at most `max_body_bytes`. After kDone the rest of `input` belongs to the next request.
  Result Feed(std::string_view& input, std::string& body, std::size_t max_body_bytes);

 private:
  enum class At {
    kSizeFirst,    // the first digit of a chunk's size
    kSize,         // further digits
    kExtension,    // after the size, up to CR
    kSizeEnd,      // LF of the size line
    kData,         //
    kDataCr,       // CR LF behind the data
    kDataLf,       //
    kTrailerLine,  // first byte of a trailer line, or CR of the empty line that ends everything
    kTrailer,      // inside a trailer line, up to CR
    kTrailerLf,    //
    kLastLf,       // LF of the empty line
    kDone,
  };

  Result TakeFraming(char c, std::size_t room);
  Result TakeDigit(char c, std::size_t room);
  Result Expect(char c, char wanted, At next);

  At at_ = At::kSizeFirst;
  std::size_t left_ = 0;     // of the chunk: its size, then what is still to come of its data
  int digits_ = 0;           // of that size
  std::size_t ignored_ = 0;  // bytes of extensions and trailers so far
};

}  // namespace tenure::http
