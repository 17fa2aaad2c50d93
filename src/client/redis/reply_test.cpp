#include "client/redis/reply.hpp"

#include <gtest/gtest.h>

#include "client/redis/wire.hpp"

namespace tenure::client {
namespace {

TEST(RedisReplies, CommandsAreWrittenWithTheirLengths) {
  const std::string zero("a\0b", 3);
  const RedisCommand commands[] = {{"PING"}, {"SET", zero, ""}};
  EXPECT_EQ(ToWire(commands),
            std::string("*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$3\r\n") + zero + "\r\n$0\r\n\r\n");
}

TEST(RedisReplies, EveryKindIsReadInWhateverPiecesItComes) {
  const std::string bytes =
      "+OK\r\n-NOSCRIPT no such\r\n:42\r\n$-1\r\n*3\r\n$2\r\nhi\r\n*1\r\n:7\r\n*0\r\n";
  ReplyParser parser;
  std::vector<RedisReply> replies;
  for (const char byte : bytes) {
    parser.Feed({&byte, 1});
    while (auto reply = parser.Next()) replies.push_back(std::move(*reply));
  }
  ASSERT_EQ(replies.size(), 5U);
  EXPECT_EQ(replies[0].kind, RedisReply::Kind::kStatus);
  EXPECT_EQ(replies[0].text, "OK");
  EXPECT_TRUE(replies[1].is_error());
  EXPECT_EQ(replies[1].code(), "NOSCRIPT");
  EXPECT_EQ(replies[2].integer, 42);
  EXPECT_EQ(replies[3].kind, RedisReply::Kind::kNil);
  ASSERT_EQ(replies[4].items.size(), 3U);
  EXPECT_EQ(replies[4].items[0].text, "hi");
  EXPECT_EQ(replies[4].items[1].items.at(0).integer, 7);
  EXPECT_TRUE(replies[4].items[2].items.empty());
}

void ExpectRefused(const std::string& bytes) {
  ReplyParser parser;
  EXPECT_THROW(
      {
        parser.Feed(bytes);
        parser.Next();
      },
      WireError)
      << bytes.substr(0, 30);
}

TEST(RedisReplies, WhatIsNoReplyIsRefused) {
  for (const char* bytes : {"HTTP/1.1 400 Bad Request\r\n", "*2000000000\r\n",
                            "$99999999999999999999\r\n", "*-7\r\n", ":x\r\n", "\r\n"})
    ExpectRefused(bytes);
  std::string deep;
  for (int i = 0; i < 20; ++i) deep += "*1\r\n";
  ExpectRefused(deep);
}

TEST(RedisReplies, AReplyThatNeverEndsIsRefused) {
  ReplyParser parser;
  parser.Feed("$900000000\r\n");
  const std::string more(64UL * 1024, 'x');
  EXPECT_THROW(
      {
        for (int i = 0; i < 100; ++i) {
          parser.Feed(more);
          parser.Next();
        }
      },
      WireError);
}

}  // namespace
}  // namespace tenure::client
