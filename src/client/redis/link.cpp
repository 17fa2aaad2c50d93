#include "client/redis/link.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json_view.hpp"
#include "client/azure/token_cache.hpp"
#include "client/failure.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

using leases::AccessDenied;

constexpr std::size_t kMostShown = 200;

/// What a server said, for people: short, and without control characters.
std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, kMostShown));
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  return shown;
}

/// The code of an error. One that a command met inside of a script stands behind the script's own
/// words on older servers.
std::string_view CodeOf(const RedisReply& error, std::span<const std::string_view> known) {
  const std::string_view code = error.code();
  if (code != "ERR") return code;
  if (error.text.find("The user executing the script can't") != std::string::npos) return "NOPERM";
  for (const std::string_view one : known)
    if (error.text.find(fmt::format("{} ", one)) != std::string::npos) return one;
  return code;
}

/// Who a token of Entra says that its owner is: the user at a Redis of Azure.
std::string ObjectIdIn(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first != std::string_view::npos && first < last)
    if (const auto claims = base::DecodeBase64Url(token.substr(first + 1, last - first - 1)))
      if (const auto object = base::JsonView::Parse(*claims))
        if (const auto id = object->Find("oid")) return id->Text().value_or("");
  return {};
}

}  // namespace

RedisLink::RedisLink(const RedisAddress& address, const WireTls* tls, int cancel_fd,
                     std::int64_t until_ms)
    : user_(address.user), tokens_(address.tokens), wire_(address, tls, cancel_fd, until_ms) {
  if (!address.password.empty()) SayWho(address.user, address.password, until_ms);
  if (address.db == 0) return;
  const std::string db = std::to_string(address.db);
  const RedisReply reply = Ask(RedisCommand{"SELECT", db}, until_ms);
  if (reply.is_error()) ThrowRedisError(reply, false);
}

void RedisLink::SayWho(const std::string& user, const std::string& password,
                       std::int64_t until_ms) {
  RedisCommand auth{"AUTH"};
  if (!user.empty()) auth.emplace_back(user);
  auth.emplace_back(password);
  const RedisReply reply = AskAll({&auth, 1}, until_ms).front();
  if (reply.is_error())
    throw AccessDenied(fmt::format("the Redis does not take the {}: {}",
                                   tokens_ ? "token" : "password", Shown(reply.code())),
                       {});
}

/// Does nothing while the one that was shown is the newest.
void RedisLink::ShowToken(std::int64_t until_ms) {
  const CasCall call{.until_ms = until_ms};
  const std::string newest = LeaseCall({}, [&] { return tokens_->Get(call); });
  if (newest == token_) return;
  const auto show = [&](const std::string& token) {
    const std::string user = user_.empty() ? ObjectIdIn(token) : user_;
    if (user.empty())
      throw AccessDenied(
          "the token of Azure does not say whose it is (oid): name the user in the address", {});
    SayWho(user, token, until_ms);
    token_ = token;
  };
  try {
    show(newest);
  } catch (const AccessDenied&) {  // it may have been revoked, or have ended on the way
    const auto fresh = LeaseCall({}, [&] { return tokens_->InPlaceOf(newest, call); });
    if (!fresh) throw;
    show(*fresh);
  }
}

bool RedisLink::IsOutdated(std::int64_t until_ms) const {
  return tokens_ && LeaseCall({}, [&] { return tokens_->Get({.until_ms = until_ms}); }) != token_;
}

std::vector<RedisReply> RedisLink::Ask(std::span<const RedisCommand> commands,
                                       std::int64_t until_ms) {
  if (tokens_) {
    try {
      ShowToken(until_ms);
    } catch (...) {
      wire_.anything_sent = false;  // of the commands
      throw;
    }
  }
  return AskAll(commands, until_ms);
}

std::vector<RedisReply> RedisLink::AskAll(std::span<const RedisCommand> commands,
                                          std::int64_t until_ms) {
  wire_.anything_sent = false;
  wire_.Send(ToWire(commands), until_ms);
  std::vector<RedisReply> replies;
  replies.reserve(commands.size());
  while (replies.size() < commands.size()) {
    auto reply = Read(until_ms);
    if (!reply) throw WireError("no answer in time");
    replies.push_back(std::move(*reply));
  }
  return replies;
}

RedisReply RedisLink::Ask(const RedisCommand& command, std::int64_t until_ms) {
  return std::move(Ask({&command, 1}, until_ms).front());
}

void RedisLink::Send(const RedisCommand& command, std::int64_t until_ms) {
  wire_.Send(ToWire({&command, 1}), until_ms);
}

std::optional<RedisReply> RedisLink::Read(std::int64_t until_ms) {
  while (true) {
    if (auto reply = parser_.Next()) return reply;
    std::string bytes;
    if (!wire_.Receive(bytes, until_ms)) return std::nullopt;
    parser_.Feed(bytes);
  }
}

void ThrowRedisError(const RedisReply& error, bool unknown_when) {
  constexpr std::array<std::string_view, 3> kDenied{"NOAUTH", "NOPERM", "WRONGPASS"};
  constexpr std::array<std::string_view, 3> kCluster{"MOVED", "CLUSTERDOWN", "CROSSSLOT"};
  // It refused the first write of a script, or the script: nothing happened.
  constexpr std::array<std::string_view, 8> kNotNow{
      "READONLY", "LOADING", "MASTERDOWN", "OOM", "MISCONF", "BUSY", "NOREPLICAS", "UNKILLABLE"};
  std::vector<std::string_view> known(kDenied.begin(), kDenied.end());
  known.insert(known.end(), kNotNow.begin(), kNotNow.end());
  const std::string_view code = CodeOf(error, known);
  const auto is = [code](const auto& codes) {
    return std::ranges::find(codes, code) != codes.end();
  };
  const std::string words = fmt::format("the Redis says: {}", Shown(error.text));
  if (is(kDenied)) throw AccessDenied(words, {});
  if (is(kCluster)) throw leases::UnfitStore(words, {});
  throw leases::ProviderUnavailable(words, {.outcome_unknown = unknown_when && !is(kNotNow)});
}

}  // namespace tenure::client
