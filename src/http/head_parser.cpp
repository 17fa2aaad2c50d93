#include "http/head_parser.hpp"

#include <charconv>

#include <boost/beast/http/basic_parser.hpp>

#include "http/text.hpp"

namespace tenure::http {
namespace {

namespace beast = boost::beast;
using beast::http::field;
using beast::http::verb;
using ParseError = beast::error_code;
using BeastView = beast::string_view;

std::string_view View(BeastView text) { return {text.data(), text.size()}; }

Method MethodOf(std::string_view name) {
  for (const Method method :
       {Method::kGet, Method::kHead, Method::kPut, Method::kPost, Method::kPatch, Method::kDelete})
    if (ToText(method) == name) return method;
  return Method::kOther;
}

/// Collects what Beast finds. Lives for one header block and never sees a body.
class Collector final : public beast::http::basic_parser<true> {
 public:
  explicit Collector(Request& request) : request_(request) { body_limit(boost::none); }

  int version = 0;
  std::string_view target;
  int hosts = 0;
  int content_lengths = 0;
  int transfer_encodings = 0;
  std::string_view host;
  std::string_view content_length;
  std::string_view transfer_encoding;
  std::optional<std::string_view> expect;

 private:
  void on_request_impl(verb, BeastView method, BeastView raw_target, int raw_version,
                       ParseError&) override {
    request_.method = MethodOf(View(method));
    version = raw_version;
    target = View(raw_target);
  }

  void on_field_impl(field name, BeastView name_text, BeastView value, ParseError&) override {
    request_.headers.push_back({View(name_text), View(value)});
    switch (name) {
      case field::host:
        ++hosts;
        host = View(value);
        break;
      case field::content_length:
        ++content_lengths;
        content_length = View(value);
        break;
      case field::transfer_encoding:
        ++transfer_encodings;
        transfer_encoding = View(value);
        break;
      case field::expect:
        expect = View(value);
        break;
      default:
        break;
    }
  }

  void on_response_impl(int, BeastView, int, ParseError&) override {}
  void on_header_impl(ParseError&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ParseError&) override {}
  std::size_t on_body_impl(BeastView, ParseError&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, BeastView, ParseError&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, BeastView, ParseError&) override { return 0; }
  void on_finish_impl(ParseError&) override {}

  Request& request_;
};

Refusal Malformed(std::string_view detail) { return {Rejection::kMalformed, detail}; }

Refusal FromBeast(const ParseError& code) {
  using beast::http::error;
  switch (static_cast<error>(code.value())) {
    case error::bad_method:
    case error::bad_target:
      return Malformed("The request line is not METHOD SP TARGET SP HTTP/1.1.");
    case error::bad_version:
      return {Rejection::kVersion, "Use HTTP/1.1."};
    case error::bad_field:
      return Malformed("A header's name is not followed by ':' at once, or is no token.");
    case error::bad_value:
      return Malformed("A header's value has a byte that may not stand there.");
    case error::bad_content_length:
    case error::multiple_content_length:
    case error::bad_transfer_encoding:
      return Malformed("Content-Length and Transfer-Encoding do not say one length.");
    default:
      return Malformed("The header cannot be read.");
  }
}

/// One length, said in one way.
std::optional<Refusal> CheckFraming(const Collector& seen, Head& head) {
  if (seen.transfer_encodings > 0) {
    if (seen.content_lengths > 0)
      return Malformed("Content-Length and Transfer-Encoding exclude each other.");
    if (seen.transfer_encodings > 1 || !EqualsNoCase(seen.transfer_encoding, "chunked"))
      return Malformed("The only Transfer-Encoding understood here is: chunked.");
    if (!head.http_1_1) return Malformed("HTTP/1.0 has no Transfer-Encoding.");
    head.chunked = true;
    return std::nullopt;
  }
  if (seen.content_lengths == 0) return std::nullopt;
  if (seen.content_lengths > 1) return Malformed("Content-Length stands there more than once.");
  const char* const end = seen.content_length.data() + seen.content_length.size();
  const auto [stopped, error] =
      std::from_chars(seen.content_length.data(), end, head.content_length);
  if (error != std::errc() || stopped != end)
    return Malformed("Content-Length is not a number of bytes.");
  return std::nullopt;
}

std::optional<Refusal> CheckHost(const Collector& seen, const Head& head) {
  if (seen.hosts > 1) return Malformed("Host stands there more than once.");
  if (seen.hosts == 0 && head.http_1_1) return Malformed("HTTP/1.1 requires a Host header.");
  if (seen.hosts == 1 && seen.host.empty()) return Malformed("The Host header is empty.");
  return std::nullopt;
}

/// "/path?query", or "http://host/path" where host is what the Host header says.
std::optional<Refusal> ReadTarget(const Collector& seen, Request& request) {
  constexpr std::string_view kScheme = "http://";
  std::string_view target = seen.target;
  if (StartsWithNoCase(target, kScheme)) {
    target.remove_prefix(kScheme.size());
    const std::size_t slash = target.find('/');
    if (slash == std::string_view::npos || !EqualsNoCase(target.substr(0, slash), seen.host))
      return Malformed("The target names another host than the Host header.");
    target.remove_prefix(slash);
  }
  if (target.front() != '/') return Malformed("The target is not a path.");
  if (target.find('#') != std::string_view::npos) return Malformed("The target has a fragment.");
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  request.query =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> ParseHead(std::string_view block, Request& request, Head& head) {
  request.headers.clear();
  head = Head();
  Collector seen(request);
  seen.header_limit(static_cast<std::uint32_t>(block.size() + 1));  // its size was checked before
  ParseError error;
  const std::size_t used = seen.put(boost::asio::buffer(block.data(), block.size()), error);
  if (error) return FromBeast(error);
  if (used != block.size() || !seen.is_header_done())
    return Malformed("The header cannot be read.");

  head.http_1_1 = seen.version == 11;
  // HTTP/1.0 is served for old health checks, one request per connection.
  head.keep_alive = head.http_1_1 && seen.keep_alive();
  if (auto refusal = CheckHost(seen, head)) return refusal;
  if (auto refusal = CheckFraming(seen, head)) return refusal;
  if (auto refusal = ReadTarget(seen, request)) return refusal;
  if (seen.expect && head.http_1_1) {
    if (!EqualsNoCase(*seen.expect, "100-continue"))
      return Refusal{Rejection::kExpectation, "The only expectation that is met is 100-continue."};
    head.expects_continue = true;
  }
  return std::nullopt;
}

HeaderScanner::Result HeaderScanner::Scan(std::string_view bytes) {
  while (true) {
    const std::size_t end = bytes.find('\n', looked_);
    if (end == std::string_view::npos) {
      looked_ = bytes.size();
      return Result::kMore;
    }
    if (end == line_ || bytes[end - 1] != '\r') return Result::kBadLine;
    const std::string_view line = bytes.substr(line_, end - 1 - line_);
    line_ = looked_ = end + 1;
    if (line.empty()) return Result::kEnd;
    if (line.front() == ' ' || line.front() == '\t') return Result::kFolded;
    if (line.find('\r') != std::string_view::npos || line.find('\0') != std::string_view::npos)
      return Result::kBadLine;
  }
}

}  // namespace tenure::http
