#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;  // hiredis

namespace tenure::client {

/// What a Redis answered to one command.
struct RedisReply {
  enum class Kind { kNil, kInteger, kText, kStatus, kError, kArray };
  Kind kind = Kind::kNil;
  std::int64_t integer = 0;
  std::string text{};  ///< also of a status or an error
  std::vector<RedisReply> items{};

  bool is_error() const { return kind == Kind::kError; }
  /// The first word of an error: "NOSCRIPT".
  std::string_view code() const;
};

/// One command and its arguments. They outlive its use.
using RedisCommand = std::vector<std::string_view>;

/// The bytes of commands, one behind the other.
std::string ToWire(std::span<const RedisCommand> commands);

/// Makes replies of the bytes of a Redis, in whatever pieces they come. What is no reply, or larger
/// than 1 MiB, is a WireError, and nothing can be read any more.
///
/// hiredis parses; what it builds are values of ours, with limits of ours.
class ReplyParser {
 public:
  ReplyParser();
  ~ReplyParser();
  ReplyParser(const ReplyParser&) = delete;
  ReplyParser& operator=(const ReplyParser&) = delete;

  void Feed(std::string_view bytes);
  /// The next whole reply, if there is one.
  std::optional<RedisReply> Next();

 private:
  struct Deleter {
    void operator()(redisReader* reader) const;
  };
  RedisReply root_;  // under construction
  std::size_t unread_bytes_ = 0;
  std::unique_ptr<redisReader, Deleter> reader_;
};

}  // namespace tenure::client
