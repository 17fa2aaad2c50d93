#include "client/redis/scripts.hpp"

#include <array>
#include <initializer_list>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.hpp"
#include "client_lua/scripts.hpp"

namespace tenure::client {
namespace {

/// SHA-1 in hexadecimal digits: the name by which a Redis knows a script.
std::string Sha1Of(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  TENURE_CHECK(done == 1, "OpenSSL has no SHA-1");
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace

RedisScript MakeScript(std::string_view operation, std::initializer_list<std::string_view> parts) {
  RedisScript script{.operation = operation, .text = {}, .sha = {}};
  for (const std::string_view part : parts) script.text += part;
  script.sha = Sha1Of(script.text);
  return script;
}

const RedisScript& AcquireScript() {
  static const RedisScript script = MakeScript("acquire", {lua::kRecord, lua::kAcquire});
  return script;
}
const RedisScript& RenewScript() {
  static const RedisScript script = MakeScript("renew", {lua::kRecord, lua::kRenew});
  return script;
}
const RedisScript& ReleaseScript() {
  static const RedisScript script = MakeScript("release", {lua::kRecord, lua::kRelease});
  return script;
}
const RedisScript& BreakScript() {
  static const RedisScript script = MakeScript("break", {lua::kRecord, lua::kBreak});
  return script;
}
const RedisScript& GetScript() {
  static const RedisScript script = MakeScript("get", {lua::kRecord, lua::kView, lua::kGet});
  return script;
}
const RedisScript& ListScript() {
  static const RedisScript script = MakeScript("list", {lua::kRecord, lua::kView, lua::kList});
  return script;
}
const RedisScript& SettingsScript() {
  static const RedisScript script = MakeScript("settings", {lua::kRecord, lua::kSettings});
  return script;
}

}  // namespace tenure::client
