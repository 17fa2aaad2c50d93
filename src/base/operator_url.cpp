#include "base/operator_url.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace tenure::base {
namespace {

constexpr std::size_t kMaxUrlBytes = 4'096;
constexpr std::size_t kMaxNameBytes = 253;

struct Authority {
  std::string host{};  ///< IPv6 without its brackets
  bool is_v6 = false;
};

bool IsName(std::string_view host) {
  const bool plain =
      host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
      std::string_view::npos;
  return !host.empty() && host.size() <= kMaxNameBytes && plain;
}

bool IsV6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool IsLoopback(const Authority& authority) {
  if (authority.is_v6) return authority.host == "::1";
  in_addr address{};
  if (inet_pton(AF_INET, authority.host.c_str(), &address) == 1)
    return (ntohl(address.s_addr) >> 24) == 127;
  return authority.host == "localhost";
}

bool IsPort(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  return error == std::errc{} && stopped == end && port != 0;
}

/// HOST, HOST:PORT, [V6] or [V6]:PORT.
std::optional<Authority> ParseAuthority(std::string_view text) {
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    authority = {.host = std::string(text.substr(1, bracket - 1)), .is_v6 = true};
    rest = text.substr(bracket + 1);
  } else {
    const std::size_t colon = std::min(text.find(':'), text.size());
    authority.host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (authority.is_v6 ? !IsV6(authority.host) : !IsName(authority.host)) return std::nullopt;
  if (!rest.empty() && (rest.front() != ':' || !IsPort(rest.substr(1)))) return std::nullopt;
  return authority;
}

}  // namespace

std::optional<std::string> OperatorUrlProblem(std::string_view url) {
  const bool secure = url.starts_with("https://");
  if (!secure && !url.starts_with("http://"))
    return "it must begin with https:// (or http:// for this machine)";
  if (url.size() > kMaxUrlBytes) return "it is longer than 4096 bytes";
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f' && c != '#' && c != '\\'; };
  if (!std::ranges::all_of(url, is_plain))
    return "it has a space, a '#', a '\\' or another character that must be encoded";
  url.remove_prefix(url.find("//") + 2);
  const std::string_view text = url.substr(0, url.find_first_of("/?"));
  if (text.find('@') != std::string_view::npos)
    return "it has a user or a password; secrets are given by a file or the environment";
  const std::optional<Authority> authority = ParseAuthority(text);
  if (!authority) return "it has no valid HOST or HOST:PORT";
  if (!secure && !IsLoopback(*authority))
    return "http:// is for this machine only (localhost, 127.0.0.1, [::1]); others need https://";
  return std::nullopt;
}

bool IsClearText(std::string_view url) {
  if (!url.starts_with("http://")) return false;
  url.remove_prefix(url.find("//") + 2);
  const std::optional<Authority> authority =
      ParseAuthority(url.substr(0, url.find_first_of("/?#")));
  return !authority || !IsLoopback(*authority);
}

}  // namespace tenure::base
