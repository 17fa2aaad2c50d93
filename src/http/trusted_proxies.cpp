#include "http/trusted_proxies.hpp"

#include <algorithm>
#include <optional>

#include "http/text.hpp"

namespace tenure::http {
namespace {

/// Takes the last element, from `separator` on, off a list.
std::string_view TakeLast(std::string_view& list, char separator) {
  const std::size_t at = list.rfind(separator);
  const bool only = at == std::string_view::npos;
  const std::string_view last = Trim(only ? list : list.substr(at + 1));
  list = only ? std::string_view() : list.substr(0, at);
  return last;
}

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// An address with or without a port. IPv6 with a port has brackets, and may have them without.
std::optional<base::IpAddress> ParseNode(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !(rest.front() == ':' && IsPort(rest.substr(1)))) return std::nullopt;
    return base::IpAddress::Parse(text.substr(1, end - 1));
  }
  const std::size_t colon = text.find(':');
  const bool v4_with_port = colon != std::string_view::npos && colon == text.rfind(':');
  if (v4_with_port && !IsPort(text.substr(colon + 1))) return std::nullopt;
  return base::IpAddress::Parse(v4_with_port ? text.substr(0, colon) : text);
}

std::optional<std::string_view> Unquoted(std::string_view value) {
  if (value.find('"') == std::string_view::npos) return value;
  const bool whole = value.size() >= 2 && value.starts_with('"') && value.ends_with('"');
  if (whole) value = value.substr(1, value.size() - 2);
  if (!whole || value.find_first_of("\"\\") != std::string_view::npos) return std::nullopt;
  return value;
}

/// The one `for` of an element of Forwarded. Elements were split at commas whatever stands in
/// quotes, from the right: no address has a comma, and a quote that the client opened must not
/// swallow what a proxy appended.
std::optional<base::IpAddress> ParseElement(std::string_view element) {
  std::optional<std::string_view> node;
  while (!element.empty()) {
    const std::string_view pair = TakeLast(element, ';');
    const std::size_t equals = pair.find('=');
    if (!EqualsNoCase(pair.substr(0, equals), "for")) continue;
    if (node || equals == std::string_view::npos) return std::nullopt;
    node = Unquoted(pair.substr(equals + 1));
    if (!node) return std::nullopt;
  }
  return node ? ParseNode(*node) : std::nullopt;
}

}  // namespace

bool TrustedProxies::Trusts(const base::IpAddress& address) const {
  return std::any_of(blocks_.begin(), blocks_.end(),
                     [&](const base::IpBlock& block) { return block.Contains(address); });
}

base::IpAddress TrustedProxies::ClientOf(const base::IpAddress& peer,
                                         const Request& request) const {
  const std::string_view name = by_ == ForwardedBy::kForwarded ? "Forwarded" : "X-Forwarded-For";
  base::IpAddress client = peer;
  // Several headers of one name are one list.
  for (auto header = request.headers.rbegin(); header != request.headers.rend(); ++header)
    if (EqualsNoCase(header->name, name) && !Walk(header->value, client)) break;
  return client;
}

bool TrustedProxies::Walk(std::string_view value, base::IpAddress& client) const {
  do {
    const std::string_view entry = TakeLast(value, ',');
    const auto address = by_ == ForwardedBy::kForwarded ? ParseElement(entry) : ParseNode(entry);
    if (!address) return false;
    client = *address;
    if (!Trusts(client)) return false;
  } while (!value.empty());
  return true;
}

}  // namespace tenure::http
