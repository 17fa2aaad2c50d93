#include "http/request_reader.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tenure::http {
namespace {

using State = RequestReader::State;
constexpr std::size_t kMaxHeaderBytes = 1'024;
constexpr std::size_t kMaxBodyBytes = 10'000;

/// Every body is welcome.
State Advance(RequestReader& reader) {
  if (reader.Advance() == State::kHead) reader.TakeBody(kMaxBodyBytes);
  return reader.Advance();
}

/// Puts `bytes` in, at most `piece` at a time, until the reader has a request or refuses.
State Feed(RequestReader& reader, std::string_view& bytes, std::size_t piece) {
  State state = Advance(reader);
  while (!bytes.empty() && (state == State::kHeader || state == State::kBody)) {
    const auto space = reader.Space();
    const std::size_t size = std::min({piece, bytes.size(), space.size()});
    std::copy_n(bytes.data(), size, space.data());
    bytes.remove_prefix(size);
    reader.Received(size);
    state = Advance(reader);
  }
  return state;
}

std::string Lines(std::initializer_list<std::string_view> lines) {
  std::string out;
  for (const auto line : lines) out.append(line).append("\r\n");
  return out + "\r\n";
}

TEST(RequestReader, ReadsTheSameWhateverThePieces) {
  std::string all;
  for (const std::size_t size : {0U, 3U, 4'500U, 9'999U}) {
    all += Lines({"PUT /a/b?c=d HTTP/1.1", "Host: h", "X-Empty:", "X-Trim: \t v \t",
                  "Content-Length: " + std::to_string(size)});
    all += std::string(size, 'x') + "\r\n";
  }
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1'000U, 100'000U}) {
    RequestReader reader(kMaxHeaderBytes);
    std::string_view bytes = all;
    for (const std::size_t size : {0U, 3U, 4'500U, 9'999U}) {
      ASSERT_EQ(Feed(reader, bytes, piece), State::kComplete) << piece << ' ' << size;
      const Request& request = reader.request();
      EXPECT_EQ(request.method, Method::kPut);
      EXPECT_EQ(request.path, "/a/b");
      EXPECT_EQ(request.query, "c=d");
      EXPECT_EQ(request.headers.size(), 4U);
      EXPECT_EQ(request.FindHeader("x-empty"), "");
      EXPECT_EQ(request.FindHeader("x-trim"), "v");
      EXPECT_EQ(request.body, std::string(size, 'x'));
      reader.Next();
    }
    EXPECT_EQ(Feed(reader, bytes, piece), State::kHeader);
    EXPECT_TRUE(reader.empty());
  }
}

TEST(RequestReader, ReadsChunksWhateverThePieces) {
  const std::string all = Lines({"PUT / HTTP/1.1", "Host: h", "Transfer-Encoding: Chunked"}) +
                          "3\r\nabc\r\n1;x=\"y\"\r\nd\r\n000\r\nTrailer: x\r\n\r\n" +
                          Lines({"GET /next HTTP/1.1", "Host: h"});
  for (std::size_t piece = 1; piece < all.size(); ++piece) {
    RequestReader reader(kMaxHeaderBytes);
    std::string_view bytes = all;
    ASSERT_EQ(Feed(reader, bytes, piece), State::kComplete) << piece;
    EXPECT_EQ(reader.request().body, "abcd");
    EXPECT_FALSE(reader.request().FindHeader("Trailer"));
    reader.Next();
    ASSERT_EQ(Feed(reader, bytes, piece), State::kComplete) << piece;
    EXPECT_EQ(reader.request().path, "/next");
    EXPECT_EQ(reader.request().body, "");
  }
}

TEST(RequestReader, AGatheredBodyLeavesItsHeaderReadable) {
  // The first request pushes the second one's header away from the front of the buffer.
  const std::string all = Lines({"GET /first HTTP/1.1", "Host: h", "X: " + std::string(900, 'x')}) +
                          Lines({"PUT /second HTTP/1.1", "Host: h", "Content-Length: 8000"}) +
                          std::string(8'000, 'y') + Lines({"GET /third HTTP/1.1", "Host: h"});
  RequestReader reader(kMaxHeaderBytes);
  std::string_view bytes = all;
  for (const char* path : {"/first", "/second", "/third"}) {
    ASSERT_EQ(Feed(reader, bytes, 1'500), State::kComplete) << path;
    EXPECT_EQ(reader.request().path, path);
    EXPECT_EQ(reader.request().FindHeader("host"), "h");
    reader.Next();
  }
}

struct Refused {
  const char* what;
  std::string bytes;
  Rejection reason = Rejection::kMalformed;
};

class RefusedRequest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedRequest, InWhateverPieces) {
  for (const std::size_t piece : {1U, 1'000'000U}) {
    RequestReader reader(kMaxHeaderBytes);
    std::string_view bytes = GetParam().bytes;
    ASSERT_EQ(Feed(reader, bytes, piece), State::kRefused) << GetParam().what;
    EXPECT_EQ(reader.refusal().reason, GetParam().reason) << GetParam().what;
    EXPECT_FALSE(reader.refusal().detail.empty());
  }
}

std::string With(std::initializer_list<std::string_view> headers) {
  std::string out = "PUT / HTTP/1.1\r\nHost: h\r\n";
  for (const auto header : headers) out.append(header).append("\r\n");
  return out + "\r\n";
}

const std::string kNul(1, '\0');

INSTANTIATE_TEST_SUITE_P(
    Smuggling, RefusedRequest,
    testing::Values(
        Refused{"both lengths", With({"Content-Length: 3", "Transfer-Encoding: chunked"})},
        Refused{"both lengths, the other way",
                With({"Transfer-Encoding: chunked", "Content-Length: 3"})},
        Refused{"gzip and a length", With({"Transfer-Encoding: gzip", "Content-Length: 3"})},
        Refused{"the same length twice", With({"Content-Length: 3", "Content-Length: 3"})},
        Refused{"two lengths", With({"Content-Length: 3", "Content-Length: 4"})},
        Refused{"a list of lengths", With({"Content-Length: 3, 3"})},
        Refused{"a signed length", With({"Content-Length: +3"})},
        Refused{"a negative length", With({"Content-Length: -3"})},
        Refused{"an empty length", With({"Content-Length:"})},
        Refused{"a hexadecimal length", With({"Content-Length: 0x3"})},
        Refused{"a length beyond all numbers", With({"Content-Length: 18446744073709551619"})},
        Refused{"gzip", With({"Transfer-Encoding: gzip"})},
        Refused{"gzip, chunked", With({"Transfer-Encoding: gzip, chunked"})},
        Refused{"chunked, identity", With({"Transfer-Encoding: chunked, identity"})},
        Refused{"chunked twice", With({"Transfer-Encoding: chunked, chunked"})},
        Refused{"two encodings",
                With({"Transfer-Encoding: chunked", "Transfer-Encoding: chunked"})},
        Refused{"xchunked", With({"Transfer-Encoding: xchunked"})},
        Refused{"an empty encoding", With({"Transfer-Encoding:"})},
        Refused{"a quoted encoding", With({"Transfer-Encoding: \"chunked\""})},
        Refused{"an encoding in HTTP/1.0",
                "PUT / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"},
        Refused{"a folded value", With({"X: a", " b"})},
        Refused{"a folded value with a tab", With({"X: a", "\tb"})},
        Refused{"a folded first header", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"},
        Refused{"a space before the colon", With({"Content-Length : 3"})},
        Refused{"a tab before the colon", With({"Transfer-Encoding\t: chunked"})},
        Refused{"no colon", With({"nonsense"})}, Refused{"no name", With({": x"})},
        Refused{"a bare LF after the request line", "GET / HTTP/1.1\nHost: h\r\n\r\n"},
        Refused{"a bare LF after a header", "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n"},
        Refused{"a bare LF as the end", "GET / HTTP/1.1\r\nHost: h\r\n\n"},
        Refused{"a leading LF", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"a bare CR", With({"X: a\rContent-Length: 3"})},
        Refused{"CR CR LF", "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n"},
        Refused{"NUL in a value", With({"X: a" + kNul + "b"})},
        Refused{"NUL in a name", With({"X" + kNul + ": ab"})},
        Refused{"NUL in the target", "GET /" + kNul + " HTTP/1.1\r\nHost: h\r\n\r\n"}));

INSTANTIATE_TEST_SUITE_P(
    RequestLineAndHost, RefusedRequest,
    testing::Values(
        Refused{"no Host", "GET / HTTP/1.1\r\n\r\n"},
        Refused{"two Hosts", "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"},
        Refused{"an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"},
        Refused{"nonsense", "nonsense\r\n\r\n"},
        Refused{"no target", "GET  HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"two spaces", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"a tab", "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"no version", "GET /\r\nHost: h\r\n\r\n"},
        Refused{"a bad method", "G@T / HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"an authority", "CONNECT h:80 HTTP/1.1\r\nHost: h:80\r\n\r\n"},
        Refused{"an asterisk", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"a relative path", "GET a/b HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"a fragment", "GET /a#b HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"an URL of another host", "GET http://other/ HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"an URL with a user", "GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"an URL without a path", "GET http://h HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"an URL of another scheme", "GET ftp://h/ HTTP/1.1\r\nHost: h\r\n\r\n"},
        Refused{"HTTP/2", "PRI * HTTP/2.0\r\n\r\n", Rejection::kVersion},
        Refused{"HTTP/0.9", "GET / HTTP/0.9\r\n\r\n", Rejection::kVersion},
        Refused{"text after the version", "GET / HTTP/1.1 x\r\nHost: h\r\n\r\n",
                Rejection::kVersion},
        Refused{"lower-case http", "GET / http/1.1\r\nHost: h\r\n\r\n", Rejection::kVersion}));

std::string Chunked(std::string_view body) {
  return With({"Transfer-Encoding: chunked"}) + std::string(body);
}

INSTANTIATE_TEST_SUITE_P(
    BodiesAndLimits, RefusedRequest,
    testing::Values(
        Refused{"no size", Chunked("\r\n")}, Refused{"a signed size", Chunked("+1\r\na\r\n")},
        Refused{"0x", Chunked("0x1\r\na\r\n")}, Refused{"a space", Chunked("1 \r\na\r\n")},
        Refused{"a leading space", Chunked(" 1\r\na\r\n")},
        Refused{"LF after the size", Chunked("1\na\r\n")},
        Refused{"LF in an extension", Chunked("1;\nx\r\na\r\n")},
        Refused{"CR in an extension", Chunked("1;\rx\r\na\r\n")},
        Refused{"data longer than its size", Chunked("1\r\nab\r\n")},
        Refused{"LF after the data", Chunked("1\r\na\n0\r\n\r\n")},
        Refused{"LF after the last chunk", Chunked("0\n\r\n")},
        Refused{"LF after a trailer", Chunked("0\r\nA: b\n\r\n")},
        Refused{"a folded trailer", Chunked("0\r\nA: b\r\n c\r\n\r\n")},
        Refused{"a size with too many zeros", Chunked(std::string(17, '0') + "\r\n\r\n")},
        Refused{"endless extensions", Chunked("1;" + std::string(5'000, 'x'))},
        Refused{"endless trailers", Chunked("0\r\n" + std::string(5'000, 'x'))},
        Refused{"a chunk beyond the limit", Chunked("2711\r\n"), Rejection::kBodyLimit},
        Refused{"a chunk beyond all numbers", Chunked("FFFFFFFFFFFFFFFF\r\n"),
                Rejection::kBodyLimit},
        Refused{"chunks beyond the limit",
                Chunked("2710\r\n" + std::string(10'000, 'x') + "\r\n1\r\n"),
                Rejection::kBodyLimit},
        Refused{"a length beyond the limit", With({"Content-Length: 10001"}),
                Rejection::kBodyLimit},
        Refused{"a header without an end", std::string(1'025, 'x'), Rejection::kHeaderLimit},
        Refused{"a long header", With({"X: " + std::string(1'000, 'x')}), Rejection::kHeaderLimit},
        Refused{"an expectation", With({"Expect: 200-ok"}), Rejection::kExpectation}));

TEST(RequestReader, AnUrlOfTheSameHostIsItsPath) {
  RequestReader reader(kMaxHeaderBytes);
  const std::string all = "GET HTTP://H:80/a?b HTTP/1.1\r\nHost: h:80\r\n\r\n";
  std::string_view bytes = all;
  ASSERT_EQ(Feed(reader, bytes, 1'000), State::kComplete);
  EXPECT_EQ(reader.request().path, "/a");
  EXPECT_EQ(reader.request().query, "b");
}

/// Everything that the reader made of `bytes`, as text.
std::string Outcome(std::string_view bytes, std::size_t piece) {
  RequestReader reader(kMaxHeaderBytes);
  std::string out;
  State state = State::kHeader;
  while ((state = Feed(reader, bytes, piece)) == State::kComplete) {
    const Request& request = reader.request();
    out.append(ToText(request.method)).append(request.path).append(request.body).append("|");
    reader.Next();
  }
  if (state == State::kRefused) out += ToText(reader.refusal().reason);
  return out;
}

TEST(RequestReader, PiecesNeverChangeWhatIsReadFromNonsense) {
  const std::vector<std::vector<std::string_view>> kinds{
      {"GET / HTTP/1.1\r\n", "PUT /x?y HTTP/1.1\r\n", "PUT / HTTP/1.0\r\n"},
      {"GET", "http://h/", "%00", "\xff", "?", "#", ",", "HTTP/1.1\r\nHost: h\r\n\r\n"},
      {"Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n"},
      {"Host: h\r\n", "Expect: 100-continue\r\n", "Connection: close\r\n", "X: y\r\n"},
      {"\r\n", "\r\n\r\n", "\r", "\n", " ", "\t", ":"},
      {"0", "5\r\nhello\r\n", "0\r\n\r\n", "1;a=b\r\nx\r\n", "hello"}};
  std::mt19937 random(42);
  for (int round = 0; round < 3'000; ++round) {
    std::string bytes = round % 2 == 0 ? "PUT / HTTP/1.1\r\nHost: h\r\n" : "";
    for (std::size_t count = random() % 12; count > 0; --count) {
      const auto& kind = kinds[random() % kinds.size()];
      bytes += kind[random() % kind.size()];
    }
    const std::string whole = Outcome(bytes, bytes.size() + 1);
    EXPECT_EQ(Outcome(bytes, 1), whole) << testing::PrintToString(bytes);
    EXPECT_EQ(Outcome(bytes, 3), whole) << testing::PrintToString(bytes);
  }
}

TEST(RequestReader, BytesBehindTheBodyAreReadable) {
  // simdjson reads kBodyPadding bytes beyond the end; under ASan this would tell.
  for (const std::size_t size : {1U, 5'056U, 8'000U}) {
    RequestReader reader(kMaxHeaderBytes);
    const std::string all = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(size) +
                            "\r\n\r\n" + std::string(size, 'x');
    std::string_view bytes = all;
    ASSERT_EQ(Feed(reader, bytes, 100'000), State::kComplete);
    const std::string_view body = reader.request().body;
    unsigned sum = 0;
    for (std::size_t i = 0; i < Request::kBodyPadding; ++i)
      sum += static_cast<unsigned char>(*(body.data() + body.size() + i)) & 1U;
    EXPECT_LE(sum, Request::kBodyPadding);
  }
}

}  // namespace
}  // namespace tenure::http
