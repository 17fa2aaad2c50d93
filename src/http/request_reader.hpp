#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "http/body_memory.hpp"
#include "http/chunk_decoder.hpp"
#include "http/head_parser.hpp"
#include "http/message.hpp"

namespace tenure::http {

/// Turns the bytes of one connection into requests, one at a time; the bytes of pipelined ones wait
/// in its buffer. Does no I/O and reads no clock: whoever owns it puts bytes in and asks.
///
///   Space/Received  ->  Advance: kHeader or kBody (more bytes, please)
///                                kHead: request() has all but its body; TakeBody() if it is welcome
///                                kComplete: request() may be served; Next() afterwards
///                                kRefused: refusal(); the connection cannot be used any more
///
/// Memory: one buffer of fixed size (a header at its limit and a small body), in which header and
/// small bodies stay where they arrived. A larger or a chunked body is gathered in a string of its
/// own, after its share of `memory` was had: of a body whose length is known all of it at once, of
/// chunks as they grow. Without room for it the request is refused.
class RequestReader {
 public:
  enum class State { kHeader, kHead, kBody, kComplete, kRefused };

  /// `memory` null: there is no bound on all bodies together.
  explicit RequestReader(std::size_t max_header_bytes, std::shared_ptr<BodyMemory> memory = {});

  /// Where the next bytes go; never empty while the state is kHeader or kBody.
  std::span<char> Space();
  /// The first `size` bytes of Space() have been filled.
  void Received(std::size_t size) { end_ += size; }

  /// Reads on as far as the bytes reach, and not beyond a header's end without TakeBody.
  State Advance();
  State state() const { return state_; }

  /// Whether the body is here already, and small: taking it costs nothing.
  /// REQUIRES: state() == kHead.
  bool body_is_here() const {
    return body_kind_ == Body::kInPlace && end_ - begin_ >= head_.content_length;
  }
  /// Reads the body, too; one of more than `max_bytes` is refused. It is counted in `memory`; null:
  /// in that of all bodies.
  /// REQUIRES: state() == kHead.
  void TakeBody(std::size_t max_bytes, const std::shared_ptr<BodyMemory>& memory = nullptr);

  /// Whether no byte of a next request is here.
  bool empty() const { return state_ == State::kHeader && begin_ == end_; }
  /// Whether the client waits for "100 Continue" before it sends the body.
  bool wants_continue() const { return state_ == State::kBody && head_.expects_continue; }

  const Head& head() const { return head_; }
  Request& request() { return request_; }
  const Refusal& refusal() const { return refusal_; }

  /// Forgets the request: its views end here.
  /// REQUIRES: state() == kComplete.
  void Next();
  /// Nothing that arrives is of interest any more; Space() only takes it away from the socket.
  void Discard();

 private:
  enum class Body { kInPlace, kGathered, kChunked };

  State ReadHeader();
  State EndHeader(std::size_t head_end);
  State ReadBody();
  State GatherBody();
  State DecodeBody();
  State Complete(std::string_view body);
  bool MakeRoom(std::size_t body_bytes);
  void ForgetBody();
  State Refuse(Rejection reason, std::string_view detail);
  std::string_view Unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void Compact();

  const std::size_t max_header_bytes_;
  const std::size_t capacity_;  // without the padding behind it
  const std::unique_ptr<char[]> buffer_;
  // [begin_, end_) are the bytes not taken yet. Those of the request that is being read stay below
  // begin_ until Next, because its views point there.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;

  State state_ = State::kHeader;
  HeaderScanner scanner_;
  Head head_;
  Body body_kind_ = Body::kInPlace;
  std::size_t max_body_bytes_ = 0;  // of the request that is being read
  ChunkDecoder chunks_;
  const std::shared_ptr<BodyMemory> memory_;
  BodyShare share_;       // what gathered_ may grow to
  std::string gathered_;  // a body that is not in place
  Request request_;
  Refusal refusal_;
};

}  // namespace tenure::http
