#include "http/request_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"

namespace tenure::http {
namespace {

/// Room behind the largest header: small bodies, pipelined requests, pieces of large bodies.
constexpr std::size_t kRoomBytes = 4 * 1024;
/// The least that a body of unknown length begins with; then it doubles.
constexpr std::size_t kFirstChunksBytes = 16 * 1024;

constexpr std::string_view kNoRoom =
    "The bodies of other requests take all of it. Nothing happened.";

}  // namespace

RequestReader::RequestReader(std::size_t max_header_bytes, std::shared_ptr<BodyMemory> memory)
    : max_header_bytes_(max_header_bytes),
      capacity_(max_header_bytes + kRoomBytes),
      buffer_(std::make_unique_for_overwrite<char[]>(capacity_ + Request::kBodyPadding)),
      memory_(std::move(memory)),
      share_(memory_) {}

std::span<char> RequestReader::Space() {
  if (state_ == State::kHeader) Compact();
  return {buffer_.get() + end_, capacity_ - end_};
}

RequestReader::State RequestReader::Advance() {
  if (state_ == State::kHeader) state_ = ReadHeader();
  if (state_ == State::kBody) state_ = ReadBody();
  return state_;
}

void RequestReader::Next() {
  TENURE_CHECK(state_ == State::kComplete, "the request that ends was never complete");
  state_ = State::kHeader;
  scanner_.Reset();
  if (body_kind_ != Body::kInPlace) ForgetBody();
}

void RequestReader::Discard() {
  state_ = State::kRefused;
  begin_ = end_ = 0;
  ForgetBody();
}

void RequestReader::ForgetBody() {
  gathered_ = std::string();
  share_.Release();
}

void RequestReader::TakeBody(std::size_t max_bytes, const std::shared_ptr<BodyMemory>& memory) {
  TENURE_CHECK(state_ == State::kHead, "a body is taken behind its header");
  share_.Use(memory ? memory : memory_);
  max_body_bytes_ = max_bytes;
  if (head_.content_length > max_bytes)
    state_ = Refuse(Rejection::kBodyLimit, "Content-Length is over the limit.");
  else if (body_kind_ == Body::kGathered &&
           !MakeRoom(static_cast<std::size_t>(head_.content_length)))
    state_ = Refuse(Rejection::kBodyMemory, kNoRoom);
  else
    state_ = State::kBody;
}

/// Whether a body may grow to that: its share is had, and what it needs is set aside.
bool RequestReader::MakeRoom(std::size_t body_bytes) {
  const std::size_t needed = body_bytes + Request::kBodyPadding;
  if (needed <= gathered_.capacity()) return true;
  if (!share_.GrowTo(needed)) return false;
  gathered_.reserve(needed);
  return true;
}

RequestReader::State RequestReader::ReadHeader() {
  // Some clients send an empty line behind a body; RFC 9112, 2.2 asks to skip it.
  while (Unread().starts_with("\r\n")) {
    begin_ += 2;
    scanner_.Reset();
  }
  const HeaderScanner::Result found = scanner_.Scan(Unread());
  if (found == HeaderScanner::Result::kBadLine)
    return Refuse(Rejection::kMalformed, "A line of the header does not end with CR LF alone.");
  if (found == HeaderScanner::Result::kFolded)
    return Refuse(Rejection::kMalformed, "A header is folded over several lines.");
  const std::size_t size = found == HeaderScanner::Result::kEnd ? scanner_.size() : Unread().size();
  if (size > max_header_bytes_)
    return Refuse(Rejection::kHeaderLimit, "Request line and headers are over the limit.");
  if (found == HeaderScanner::Result::kMore) return State::kHeader;

  if (const auto refusal = ParseHead(Unread().substr(0, size), request_, head_)) {
    refusal_ = *refusal;
    return State::kRefused;
  }
  return EndHeader(begin_ + size);
}

RequestReader::State RequestReader::EndHeader(std::size_t head_end) {
  const bool fits = !head_.chunked && head_.content_length <= capacity_ - head_end;
  if (!fits && begin_ > 0) {
    // The room behind the header is where the body's pieces will arrive: move the header to the
    // front and read it again, so that its views are right.
    Compact();
    scanner_.Reset();
    return ReadHeader();
  }
  body_kind_ = fits ? Body::kInPlace : head_.chunked ? Body::kChunked : Body::kGathered;
  chunks_ = ChunkDecoder();
  begin_ = head_end;
  request_.body = {};
  request_.path_parameters.clear();
  request_.principal = Nobody();
  return State::kHead;
}

RequestReader::State RequestReader::ReadBody() {
  switch (body_kind_) {
    case Body::kInPlace: {
      const auto length = static_cast<std::size_t>(head_.content_length);
      if (end_ - begin_ < length) return State::kBody;
      const std::string_view body = Unread().substr(0, length);
      begin_ += length;
      return Complete(body);
    }
    case Body::kGathered:
      return GatherBody();
    case Body::kChunked:
      return DecodeBody();
  }
  return State::kRefused;
}

RequestReader::State RequestReader::GatherBody() {
  const auto length = static_cast<std::size_t>(head_.content_length);
  const std::string_view piece = Unread().substr(0, length - gathered_.size());
  gathered_ += piece;
  if (gathered_.size() == length) {
    begin_ += piece.size();
    gathered_.append(Request::kBodyPadding, '\0');
    return Complete(std::string_view(gathered_).substr(0, length));
  }
  end_ = begin_;  // the piece was all there was: its place takes the next one
  return State::kBody;
}

RequestReader::State RequestReader::DecodeBody() {
  std::string_view input = Unread();
  const std::size_t most = std::min(gathered_.size() + input.size(), max_body_bytes_);
  const std::size_t ahead = std::min(std::max(2 * most, kFirstChunksBytes), max_body_bytes_);
  const bool fits = most + Request::kBodyPadding <= gathered_.capacity();
  if (!fits && !MakeRoom(ahead) && !MakeRoom(most)) return Refuse(Rejection::kBodyMemory, kNoRoom);
  const ChunkDecoder::Result result = chunks_.Feed(input, gathered_, max_body_bytes_);
  if (result == ChunkDecoder::Result::kBad)
    return Refuse(Rejection::kMalformed, "The chunked body cannot be read.");
  if (result == ChunkDecoder::Result::kTooLarge)
    return Refuse(Rejection::kBodyLimit, "The chunks are over the limit.");
  if (result == ChunkDecoder::Result::kMore) {
    end_ = begin_;
    return State::kBody;
  }
  begin_ = end_ - input.size();
  const std::size_t length = gathered_.size();
  gathered_.append(Request::kBodyPadding, '\0');
  return Complete(std::string_view(gathered_).substr(0, length));
}

RequestReader::State RequestReader::Complete(std::string_view body) {
  request_.body = body;
  return State::kComplete;
}

RequestReader::State RequestReader::Refuse(Rejection reason, std::string_view detail) {
  refusal_ = {reason, detail};
  return State::kRefused;
}

void RequestReader::Compact() {
  if (begin_ == 0) return;
  std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
}

}  // namespace tenure::http
