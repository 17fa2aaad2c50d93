#include "base/allowed_host.hpp"

#include "base/ip.hpp"

namespace tenure::base {
namespace {

constexpr std::size_t kMaxHostBytes = 253;
constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::string_view kPrivateWord = "private ";

bool IsLabel(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabelBytes &&
         label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") ==
             std::string_view::npos &&
         label.front() != '-' && label.back() != '-';
}

}  // namespace

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool IsHostName(std::string_view host) {
  if (host.empty() || host.size() > kMaxHostBytes) return false;
  while (true) {
    const std::size_t dot = host.find('.');
    if (!IsLabel(host.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    host.remove_prefix(dot + 1);
  }
}

bool LooksLikeNumber(std::string_view host) {
  const std::size_t dot = host.rfind('.');
  const std::string_view last = dot == std::string_view::npos ? host : host.substr(dot + 1);
  if (last.find_first_not_of("0123456789") == std::string_view::npos) return true;
  return last.starts_with("0x") &&
         last.substr(2).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<AllowedHost> AllowedHost::Parse(std::string_view text) {
  AllowedHost allowed;
  if (text.starts_with(kPrivateWord)) {
    allowed.is_private = true;
    text.remove_prefix(kPrivateWord.size());
  }
  allowed.pattern = LowerAscii(text);
  if (IpAddress::Parse(allowed.pattern)) return allowed;
  std::string_view host = allowed.pattern;
  if (!allowed.is_private) {
    if (host == "*") return allowed;
    if (host.starts_with("*.")) host.remove_prefix(2);
  }
  if (!IsHostName(host) || LooksLikeNumber(host)) return std::nullopt;
  return allowed;
}

std::string AllowedHost::ToString() const {
  return (is_private ? std::string(kPrivateWord) : std::string()) + pattern;
}

}  // namespace tenure::base
