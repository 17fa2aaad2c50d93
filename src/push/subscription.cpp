#include "push/subscription.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/json_writer.hpp"

namespace tenure::push {
namespace {

constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
/// Of RFC 9110, without letters and digits.
constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`|~";

std::string SecretsContext(const base::Uuid& id) { return id.ToString() + "/secrets"; }
std::string HeadersContext(const base::Uuid& id) { return id.ToString() + "/headers"; }

char LowerLetter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool BeginsWith(std::string_view name, std::string_view lower_prefix) {
  return name.size() >= lower_prefix.size() &&
         std::ranges::equal(name.substr(0, lower_prefix.size()), lower_prefix, {}, LowerLetter);
}
bool IsName(std::string_view name, std::string_view lower) {
  return name.size() == lower.size() && BeginsWith(name, lower);
}

/// Calls `take` for each line without its end.
template <class Take>
void EachLine(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    take(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

}  // namespace

std::string_view QueueOf(std::string_view topic) {
  constexpr std::string_view kPrefix = "queue:";
  return topic.starts_with(kPrefix) ? topic.substr(kPrefix.size()) : std::string_view();
}

bool IsSubscriptionName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         name.find_first_not_of(kNameCharacters) == std::string_view::npos;
}

std::string_view StateText(const Subscription& subscription, std::int64_t now_ms) {
  if (!subscription.is_delivered()) return "disabled";
  return ToText(Circuit::StateOf(subscription.circuit, now_ms));
}

std::string SealSecrets(const Vault& vault, const base::Uuid& id,
                        const std::vector<ActiveSecret>& secrets) {
  std::string text;
  for (const ActiveSecret& secret : secrets)
    text += fmt::format("{} {}\n", secret.text, secret.until_ms);
  return vault.Seal(text, SecretsContext(id));
}

std::vector<ActiveSecret> OpenSecrets(const Vault& vault, const base::Uuid& id,
                                      std::string_view sealed, std::int64_t now_ms) {
  std::vector<ActiveSecret> secrets;
  const auto text = vault.Open(sealed, SecretsContext(id));
  if (!text) return secrets;
  EachLine(*text, [&](std::string_view line) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    ActiveSecret secret{.text = std::string(line.substr(0, space))};
    std::from_chars(line.data() + space + 1, line.data() + line.size(), secret.until_ms);
    if (secret.until_ms == 0 || now_ms < secret.until_ms) secrets.push_back(std::move(secret));
  });
  return secrets;
}

std::string SealHeaders(const Vault& vault, const base::Uuid& id, const HeaderValues& headers) {
  if (headers.empty()) return "";
  std::string text;
  for (const auto& [name, value] : headers) text += fmt::format("{}:{}\n", name, value);
  return vault.Seal(text, HeadersContext(id));
}

std::optional<HeaderValues> OpenHeaders(const Vault& vault, const base::Uuid& id,
                                        std::string_view sealed) {
  HeaderValues headers;
  if (sealed.empty()) return headers;
  const auto text = vault.Open(sealed, HeadersContext(id));
  if (!text) return std::nullopt;
  EachLine(*text, [&](std::string_view line) {
    const std::size_t colon = std::min(line.find(':'), line.size() - 1);
    headers.emplace_back(line.substr(0, colon), line.substr(colon + 1));
  });
  return headers;
}

bool Reseal(const Vault& vault, Subscription& subscription) {
  const auto again = [&](std::string& sealed, const std::string& context) {
    if (sealed.empty() || vault.IsCurrent(sealed)) return true;
    const auto text = vault.Open(sealed, context);
    if (text) sealed = vault.Seal(*text, context);
    return text.has_value();
  };
  return again(subscription.secrets, SecretsContext(subscription.id)) &&
         again(subscription.headers, HeadersContext(subscription.id));
}

std::string HeaderNames(const HeaderValues& headers) {
  std::string text;
  base::JsonWriter json(text);
  json.BeginArray();
  for (const auto& [name, value] : headers) json.Value(std::string_view(name));
  json.EndArray();
  return text;
}

std::optional<std::string_view> HeaderProblem(std::string_view name, std::string_view value) {
  const auto is_token = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kTokenMarks.find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > kMaxHeaderNameBytes || !std::ranges::all_of(name, is_token))
    return "has a name that no header can have";
  for (const std::string_view own : {"host", "connection", "transfer-encoding", "te", "upgrade",
                                     "expect", "trailer", "keep-alive", "traceparent"})
    if (IsName(name, own)) return "is a header that Tenure sets itself";
  for (const std::string_view own : {"content-", "ce-", "webhook-", "proxy-"})
    if (BeginsWith(name, own)) return "is a header that Tenure sets itself";
  const auto is_plain = [](char c) { return (c >= ' ' && c < '\x7f') || c == '\t'; };
  if (value.empty() || value.size() > kMaxHeaderValueBytes || !std::ranges::all_of(value, is_plain))
    return "must have 1 to 1000 visible ASCII characters";
  return std::nullopt;
}

}  // namespace tenure::push
