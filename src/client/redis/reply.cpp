#include "client/redis/reply.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "client/redis/wire.hpp"

namespace tenure::client {
namespace {

constexpr std::size_t kMostReplyBytes = 1024UL * 1024;
constexpr int kMostItems = 10'000;

/// Where the reply that a task of the reader is about belongs.
RedisReply* PlaceOf(const redisReadTask* task) {
  if (task->parent == nullptr) {
    auto* const root = static_cast<RedisReply*>(task->privdata);
    *root = {};
    return root;
  }
  auto* const parent = static_cast<RedisReply*>(task->parent->obj);
  return &parent->items[static_cast<std::size_t>(task->idx)];
}

void* MakeText(const redisReadTask* task, char* bytes, std::size_t size) {
  RedisReply* const reply = PlaceOf(task);
  reply->kind = task->type == REDIS_REPLY_ERROR    ? RedisReply::Kind::kError
                : task->type == REDIS_REPLY_STATUS ? RedisReply::Kind::kStatus
                                                   : RedisReply::Kind::kText;
  reply->text.assign(bytes, size);
  return reply;
}

void* MakeArray(const redisReadTask* task, int items) {
  if (items < 0 || items > kMostItems) return nullptr;  // the reader then refuses the whole
  RedisReply* const reply = PlaceOf(task);
  reply->kind = RedisReply::Kind::kArray;
  reply->items.resize(static_cast<std::size_t>(items));
  return reply;
}

void* MakeInteger(const redisReadTask* task, long long value) {
  RedisReply* const reply = PlaceOf(task);
  reply->kind = RedisReply::Kind::kInteger;
  reply->integer = value;
  return reply;
}

void* MakeNil(const redisReadTask* task) { return PlaceOf(task); }

void KeepReply(void*) {}  // it is the parser's own

redisReplyObjectFunctions kMakers{MakeText, MakeArray, MakeInteger, MakeNil, KeepReply};

}  // namespace

std::string_view RedisReply::code() const {
  return std::string_view(text).substr(0, std::min(text.find(' '), text.size()));
}

std::string ToWire(std::span<const RedisCommand> commands) {
  std::string bytes;
  std::vector<const char*> words;
  std::vector<std::size_t> sizes;
  for (const RedisCommand& command : commands) {
    words.clear();
    sizes.clear();
    for (const std::string_view word : command) {
      words.push_back(word.data() == nullptr ? "" : word.data());
      sizes.push_back(word.size());
    }
    char* formatted = nullptr;
    const int size = redisFormatCommandArgv(&formatted, static_cast<int>(words.size()),
                                            words.data(), sizes.data());
    if (size < 0) throw std::bad_alloc();
    bytes.append(formatted, static_cast<std::size_t>(size));
    redisFreeCommand(formatted);
  }
  return bytes;
}

void ReplyParser::Deleter::operator()(redisReader* reader) const { redisReaderFree(reader); }

ReplyParser::ReplyParser() : reader_(redisReaderCreateWithFunctions(&kMakers)) {
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = &root_;
}

ReplyParser::~ReplyParser() = default;

void ReplyParser::Feed(std::string_view bytes) {
  unread_bytes_ += bytes.size();
  if (redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK)
    throw WireError(fmt::format("no reply of a Redis: {}", reader_->errstr));
}

std::optional<RedisReply> ReplyParser::Next() {
  void* whole = nullptr;
  if (redisReaderGetReply(reader_.get(), &whole) != REDIS_OK)
    throw WireError(fmt::format("no reply of a Redis: {}", reader_->errstr));
  if (whole == nullptr) {
    if (unread_bytes_ > kMostReplyBytes) throw WireError("a reply is larger than 1 MiB");
    return std::nullopt;
  }
  unread_bytes_ = 0;
  return std::exchange(root_, {});
}

}  // namespace tenure::client
