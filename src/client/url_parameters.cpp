#include "client/url_parameters.hpp"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "base/hex.hpp"
#include "base/ip.hpp"
#include "base/time_text.hpp"

namespace tenure::client {
namespace {

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

}  // namespace

std::string PercentDecoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? base::HexValue(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? base::HexValue(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      throw std::invalid_argument("the address has a % that is not followed by two hex digits");
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

bool IsLoopbackHost(const std::string& host) {
  if (host == "localhost") return true;
  const auto address = base::IpAddress::Parse(host);
  if (!address) return false;
  static const auto v4 = base::IpBlock::Parse("127.0.0.0/8");
  static const auto v6 = base::IpBlock::Parse("::1");
  return v4->Contains(*address) || v6->Contains(*address);
}

UrlParameters::UrlParameters(std::string_view query) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw std::invalid_argument("a parameter of the address is not NAME=VALUE");
    const std::string name(part.substr(0, equals));
    if (!values_.emplace(name, PercentDecoded(part.substr(equals + 1))).second)
      throw std::invalid_argument(fmt::format("the address has the parameter {} twice", name));
  }
}

std::optional<std::string> UrlParameters::Text(const std::string& name) {
  const auto node = values_.extract(name);
  if (!node) return std::nullopt;
  if (node.mapped().empty())
    throw std::invalid_argument(fmt::format("the parameter {} of the address is empty", name));
  return node.mapped();
}

std::optional<leases::Milliseconds> UrlParameters::Duration(const std::string& name,
                                                            leases::Milliseconds least,
                                                            leases::Milliseconds most) {
  const auto text = Text(name);
  if (!text) return std::nullopt;
  const auto ms = base::ParseDurationMs(*text);
  if (!ms || *ms < least.count() || *ms > most.count())
    throw std::invalid_argument(
        fmt::format("the parameter {} of the address must be a duration from {} to {}", name,
                    base::DurationText(least.count()), base::DurationText(most.count())));
  return leases::Milliseconds(*ms);
}

std::optional<std::int64_t> UrlParameters::Number(const std::string& name, std::int64_t least,
                                                  std::int64_t most) {
  const auto text = Text(name);
  if (!text) return std::nullopt;
  const auto value = WholeNumber(*text);
  if (!value || *value < least || *value > most)
    throw std::invalid_argument(
        fmt::format("the parameter {} of the address must be {} to {}", name, least, most));
  return value;
}

void UrlParameters::Finish() const {
  if (values_.empty()) return;
  throw std::invalid_argument(
      fmt::format("the address has a parameter that is not known: {}", values_.begin()->first));
}

}  // namespace tenure::client
