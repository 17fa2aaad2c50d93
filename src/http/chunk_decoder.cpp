#include "http/chunk_decoder.hpp"

#include <algorithm>

#include "base/hex.hpp"

namespace tenure::http {
namespace {

/// Bytes of extensions and trailers in one body: generous for what is real, and a bound.
constexpr std::size_t kMaxIgnoredBytes = 4'096;

constexpr int kMaxSizeDigits = 16;

constexpr bool IsText(char c) {
  return c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
}

}  // namespace

ChunkDecoder::Result ChunkDecoder::Feed(std::string_view& input, std::string& body,
                                        std::size_t max_body_bytes) {
  while (!input.empty()) {
    if (at_ == At::kData) {
      const std::size_t take = std::min(left_, input.size());
      body.append(input.substr(0, take));
      input.remove_prefix(take);
      left_ -= take;
      if (left_ == 0) at_ = At::kDataCr;
      continue;
    }
    const char c = input.front();
    input.remove_prefix(1);
    const Result result = TakeFraming(c, max_body_bytes - body.size());
    if (result != Result::kMore) return result;
  }
  return Result::kMore;
}

ChunkDecoder::Result ChunkDecoder::TakeFraming(char c, std::size_t room) {
  switch (at_) {
    case At::kSizeFirst:
    case At::kSize:
      return TakeDigit(c, room);
    case At::kExtension:
      if (c == '\r') return Expect(c, '\r', At::kSizeEnd);
      return IsText(c) && ++ignored_ <= kMaxIgnoredBytes ? Result::kMore : Result::kBad;
    case At::kSizeEnd:
      return Expect(c, '\n', left_ == 0 ? At::kTrailerLine : At::kData);
    case At::kDataCr:
      return Expect(c, '\r', At::kDataLf);
    case At::kDataLf:
      return Expect(c, '\n', At::kSizeFirst);
    case At::kTrailerLine:
      if (c == '\r') return Expect(c, '\r', At::kLastLf);
      if (c == ' ' || c == '\t') return Result::kBad;  // a folded line
      at_ = At::kTrailer;
      [[fallthrough]];
    case At::kTrailer:
      if (c == '\r') return Expect(c, '\r', At::kTrailerLf);
      return IsText(c) && ++ignored_ <= kMaxIgnoredBytes ? Result::kMore : Result::kBad;
    case At::kTrailerLf:
      return Expect(c, '\n', At::kTrailerLine);
    case At::kLastLf:
      return Expect(c, '\n', At::kDone) == Result::kMore ? Result::kDone : Result::kBad;
    case At::kData:
    case At::kDone:
      break;
  }
  return Result::kBad;
}

ChunkDecoder::Result ChunkDecoder::TakeDigit(char c, std::size_t room) {
  const int digit = base::HexValue(c);
  if (digit >= 0) {
    if (at_ == At::kSizeFirst) digits_ = 0;
    at_ = At::kSize;
    if (++digits_ > kMaxSizeDigits) return Result::kBad;
    // `room` is far below 2^60, so this test also keeps the multiplication from overflowing.
    left_ = left_ * 16 + static_cast<std::size_t>(digit);
    return left_ <= room ? Result::kMore : Result::kTooLarge;
  }
  if (at_ == At::kSizeFirst) return Result::kBad;
  if (c == '\r') return Expect(c, '\r', At::kSizeEnd);
  if (c != ';') return Result::kBad;
  at_ = At::kExtension;
  return Result::kMore;
}

ChunkDecoder::Result ChunkDecoder::Expect(char c, char wanted, At next) {
  if (c != wanted) return Result::kBad;
  at_ = next;
  return Result::kMore;
}

}  // namespace tenure::http
