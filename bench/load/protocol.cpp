#include "protocol.hpp"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace bench {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string_view HeaderValue(std::string_view head, std::string_view name) {
  const std::size_t at = head.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + name.size();
  return head.substr(begin, head.find(kLineEnd, begin) - begin);
}

/// Puts the chunks together. Returns their size with all that frames them; 0: some are missing.
std::size_t ReadChunks(std::string_view input, std::string& body) {
  body.clear();
  std::size_t at = 0;
  while (true) {
    const std::size_t line = input.find(kLineEnd, at);
    if (line == std::string_view::npos) return 0;
    std::size_t length = 0;
    std::from_chars(input.data() + at, input.data() + line, length, 16);
    const std::size_t begin = line + kLineEnd.size();
    const std::size_t end = begin + length + kLineEnd.size();
    if (input.size() < end) return 0;
    if (length == 0) return end;
    body += input.substr(begin, length);
    at = end;
  }
}

}  // namespace

Parsed ParseHttp(std::string_view input, std::string& scratch) {
  const std::size_t end = input.find("\r\n\r\n");
  if (end == std::string_view::npos || input.size() < 12) return {};
  const std::string_view head = input.substr(0, end + 2);
  const std::string_view rest = input.substr(end + 4);
  Parsed parsed;
  std::size_t length = 0;
  if (HeaderValue(head, "\r\nTransfer-Encoding: ") == "chunked") {
    length = ReadChunks(rest, scratch);
    if (length == 0) return {};
    parsed.answer.body = scratch;
  } else {
    const std::string_view text = HeaderValue(head, "\r\nContent-Length: ");
    std::from_chars(text.data(), text.data() + text.size(), length);
    if (rest.size() < length) return {};
    parsed.answer.body = rest.substr(0, length);
  }
  parsed.size = end + 4 + length;
  std::from_chars(input.data() + 9, input.data() + 12, parsed.answer.status);
  parsed.answer.location = HeaderValue(head, "\r\nLocation: ");
  return parsed;
}

namespace {

/// Where a reply of Redis that begins there ends; npos: it is not whole yet.
std::size_t EndOfRedis(std::string_view input, std::size_t begin) {
  const std::size_t line = input.find(kLineEnd, begin);
  if (line == std::string_view::npos) return line;
  std::size_t end = line + kLineEnd.size();
  std::int64_t count = 0;
  std::from_chars(input.data() + begin + 1, input.data() + line, count);
  if (input[begin] == '$' && count >= 0) {
    end += static_cast<std::size_t>(count) + kLineEnd.size();
    return end <= input.size() ? end : std::string_view::npos;
  }
  if (input[begin] == '*')
    for (std::int64_t i = 0; i < count && end != std::string_view::npos; ++i)
      end = EndOfRedis(input, end);
  return end;
}

}  // namespace

Parsed ParseRedis(std::string_view input, std::string&) {
  const std::size_t end = EndOfRedis(input, 0);
  if (end == std::string_view::npos) return {};
  Parsed parsed;
  parsed.size = end;
  parsed.answer.status = input[0] == '-' ? 500 : 200;
  parsed.answer.body = input.substr(0, end - kLineEnd.size());
  return parsed;
}

std::string HttpRequest(std::string_view method, std::string_view path, std::string_view json) {
  static const std::string authorization = [] {
    const char* const token = std::getenv("BENCH_TOKEN");
    return token ? fmt::format("Authorization: Bearer {}\r\n", token) : std::string();
  }();
  std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}", method, path, authorization);
  if (!json.empty())
    request += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", json.size());
  request += kLineEnd;
  request += json;
  return request;
}

std::string_view JsonValue(std::string_view json, std::string_view name) {
  const std::size_t at = json.find(fmt::format("\"{}\":", name));
  if (at == std::string_view::npos) return {};
  std::string_view rest = json.substr(at + name.size() + 3);
  const bool quoted = rest.starts_with('"');
  if (quoted) rest.remove_prefix(1);
  return rest.substr(0, rest.find_first_of(quoted ? "\"" : ",}]"));
}

}  // namespace bench
