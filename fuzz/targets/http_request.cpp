// http::RequestReader: the bytes of a connection, in whatever pieces they arrive.
//
// What must hold:
//  1. The requests that come out, and whether the reader refuses in the end, do not depend on the
//     pieces. Two readers of the same bytes that disagree are how requests are smuggled.
//  2. Every view of a request is readable, and so is the padding behind its body.
//  3. No limit is passed, and there is always space for more bytes while more are asked for.
// The reason of a refusal may differ: a header that is both too long and malformed is refused for
// what is seen first.

#include <algorithm>
#include <functional>
#include <random>

#include <fmt/format.h>

#include "http/request_reader.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

using http::RequestReader;
using State = RequestReader::State;

/// Small, so that inputs of a few hundred bytes reach them; a body beyond the reader's 4 KiB of
/// room is gathered, one below stays in place.
constexpr std::size_t kMaxHeaderBytes = 300;
constexpr std::size_t kMaxBodyBytes = 5'000;

/// How many bytes arrive next; asked before each arrival.
using Pieces = std::function<std::size_t()>;

/// All of a request, as text that can be compared. Reads every byte of it.
void Describe(RequestReader& reader, std::string& out) {
  const http::Request& request = reader.request();
  TENURE_CHECK(request.body.size() <= kMaxBodyBytes, "a body is over the limit");
  const http::Head& head = reader.head();
  out += fmt::format("{} {}?{} 1.{} keep={} chunked={} {}\n", http::ToText(request.method),
                     request.path, request.query, head.http_1_1 ? 1 : 0, head.keep_alive,
                     head.chunked, head.content_length);
  for (const http::Header& header : request.headers)
    out += fmt::format("{}: {}\n", header.name, header.value);
  out += fmt::format("{} bytes: {}\n", request.body.size(), request.body);
  const volatile char* const behind = request.body.data() + request.body.size();
  for (std::size_t i = 0; i < http::Request::kBodyPadding; ++i) static_cast<void>(behind[i]);
}

/// Every body is welcome.
State Advance(RequestReader& reader) {
  if (reader.Advance() == State::kHead) reader.TakeBody(kMaxBodyBytes);
  return reader.Advance();
}

std::string Read(std::string_view bytes, const Pieces& next_piece) {
  RequestReader reader(kMaxHeaderBytes);
  std::string out;
  for (;;) {
    State state = Advance(reader);
    while (!bytes.empty() && (state == State::kHeader || state == State::kBody)) {
      const auto space = reader.Space();
      TENURE_CHECK(!space.empty(), "more bytes are asked for, but there is no space");
      const std::size_t size = std::min({next_piece(), bytes.size(), space.size()});
      std::copy_n(bytes.data(), size, space.data());
      bytes.remove_prefix(size);
      reader.Received(size);
      state = Advance(reader);
    }
    if (state != State::kComplete)
      return out + (state == State::kRefused  ? "refused"
                    : state == State::kHeader ? "reads a header"
                                              : "reads a body");
    Describe(reader, out);
    reader.Next();
  }
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tenure::fuzz::Read;
  const std::string_view bytes = tenure::fuzz::AsText(data, size);
  const std::string whole = Read(bytes, [&] { return bytes.size(); });
  TENURE_CHECK(whole == Read(bytes, [] { return std::size_t{1}; }),
               "byte by byte, the requests are others");
  // The input decides about the pieces, so that a finding can be repeated.
  std::minstd_rand random(static_cast<std::uint32_t>(std::hash<std::string_view>()(bytes)));
  const std::size_t longest = 1 + random() % 512;
  TENURE_CHECK(whole == Read(bytes, [&] { return 1 + random() % longest; }),
               "in other pieces, the requests are others");
  return 0;
}
