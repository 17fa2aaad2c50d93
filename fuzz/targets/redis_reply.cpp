// What a Redis answers: the first byte says in what pieces the rest comes.
//
// What must hold: bytes are replies or a refusal, never more; the pieces make no difference. What no
// script of ours says is refused as such, and what INFO says is read whatever it is.

#include "client/redis/fitness.hpp"
#include "client/redis/read.hpp"
#include "client/redis/reply.hpp"
#include "client/redis/wire.hpp"
#include "target.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::fuzz {
namespace {

using client::RedisReply;

std::vector<RedisReply> RepliesOf(std::string_view bytes, std::size_t piece) {
  std::vector<RedisReply> replies;
  client::ReplyParser parser;
  try {
    while (!bytes.empty()) {
      parser.Feed(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
      while (auto reply = parser.Next()) replies.push_back(std::move(*reply));
    }
  } catch (const client::WireError&) {
    // Nothing can be read any more.
  }
  return replies;
}

bool Same(const RedisReply& a, const RedisReply& b) {
  if (a.kind != b.kind || a.integer != b.integer || a.text != b.text) return false;
  if (a.items.size() != b.items.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!Same(a.items[i], b.items[i])) return false;
  return true;
}

/// As what every script answers. Only refusals leave it.
void ReadAsAnything(const RedisReply& reply) {
  const client::GrantContext asked{.name = "a", .term = "t"};
  const auto attempt = [](const auto& read) {
    try {
      read();
    } catch (const leases::ProviderUnavailable& error) {
      TENURE_CHECK(error.outcome_unknown(), "an unreadable answer tells nothing of its question");
    }
  };
  attempt([&] { client::ReadAcquired(reply, asked); });
  attempt([&] { client::ReadRenewed(reply, asked); });
  attempt([&] { client::ReadReleased(reply); });
  attempt([&] { client::ReadBroken(reply); });
  attempt([&] { client::ReadLease(reply); });
  attempt([&] { client::ReadLeases(reply); });
  client::WhyItMayForget(client::ReadRedisFacts(reply.text));
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure::fuzz;
  std::string_view bytes = AsText(data, size);
  if (bytes.empty()) return 0;
  const std::size_t piece = static_cast<unsigned char>(bytes.front()) + 1U;
  bytes.remove_prefix(1);
  const auto replies = RepliesOf(bytes, piece);
  const auto whole = RepliesOf(bytes, bytes.size());
  TENURE_CHECK(replies.size() == whole.size(), "the pieces make a difference");
  for (std::size_t i = 0; i < replies.size(); ++i) {
    TENURE_CHECK(Same(replies[i], whole[i]), "the pieces make a difference");
    ReadAsAnything(replies[i]);
  }
  return 0;
}
