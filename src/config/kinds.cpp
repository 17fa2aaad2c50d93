#include "config/kinds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/decimal.hpp"
#include "base/operator_url.hpp"
#include "base/time_text.hpp"
#include "base/utf8.hpp"
#include "config/printable.hpp"
#include "config/secret.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t kMaxTextBytes = 4'096;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct ByteUnit {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<ByteUnit, 4> kByteUnits{
    {{"GiB", 1UL << 30}, {"MiB", 1UL << 20}, {"KiB", 1UL << 10}, {"B", 1}}};

std::string_view Trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

bool IsOneLine(std::string_view text) {
  return text.size() <= kMaxTextBytes && Printable(text) == text;
}

bool IsHost(std::string_view host) {
  const bool plain =
      host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
      std::string_view::npos;
  return !host.empty() && host.size() <= 253 && plain;
}

bool IsIpv6(std::string_view host) {
  return host.find(':') != std::string_view::npos && host.size() <= 45 &&
         host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

/// The texts between the commas; none when one of them is empty.
std::optional<std::vector<std::string>> SplitList(std::string_view text) {
  if (!IsOneLine(text)) return std::nullopt;
  std::vector<std::string> texts;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = Trimmed(text.substr(0, comma));
    if (item.empty()) return std::nullopt;
    texts.emplace_back(item);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return texts;
}

template <class Number>
std::optional<Number> Within(std::optional<Number> number, Number least, Number most) {
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

// Read makes the member's value of a text, or nothing when the kind does not accept it.

std::optional<std::string> Read(const Text&, std::string_view text) {
  return !text.empty() && IsOneLine(text) ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<std::string> Read(const OptionalText&, std::string_view text) {
  return IsOneLine(text) ? std::optional<std::string>(text) : std::nullopt;
}

std::optional<std::vector<std::string>> Read(const TextList& kind, std::string_view text) {
  auto texts = SplitList(text);
  return texts && texts->size() >= kind.least ? std::move(texts) : std::nullopt;
}

std::optional<std::size_t> Read(const Choice& kind, std::string_view text) {
  const auto found = std::ranges::find(kind.words, text);
  if (found == kind.words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kind.words.begin());
}

std::optional<bool> Read(const Switch&, std::string_view text) {
  if (text == "on" || text == "true") return true;
  if (text == "off" || text == "false") return false;
  return std::nullopt;
}

std::optional<int> Read(const Integer& kind, std::string_view text) {
  return Within(ParseNumber<int>(text), kind.least, kind.most);
}

std::optional<std::int64_t> Read(const Duration& kind, std::string_view text) {
  return Within(base::ParseDurationMs(text), kind.least_ms, kind.most_ms);
}

std::optional<std::size_t> Read(const ByteSize& kind, std::string_view text) {
  return Within(ParseByteSize(text), kind.least, kind.most);
}

std::optional<std::int64_t> Read(const Decimal& kind, std::string_view text) {
  return Within<std::int64_t>(base::ParseMillionths(text), 0, kind.most);
}

std::optional<Address> Read(const HostPort&, std::string_view text) { return ParseAddress(text); }

std::optional<Address> Read(const OptionalHostPort&, std::string_view text) {
  return text.empty() ? Address{} : ParseAddress(text);
}

std::optional<std::vector<base::IpBlock>> Read(const IpBlockList&, std::string_view text) {
  const auto texts = SplitList(text);
  if (!texts) return std::nullopt;
  std::vector<base::IpBlock> blocks;
  for (const std::string& item : *texts) {
    const auto block = base::IpBlock::Parse(item);
    if (!block) return std::nullopt;
    blocks.push_back(*block);
  }
  return blocks;
}

std::optional<std::vector<base::AllowedHost>> Read(const AllowedHostList&, std::string_view text) {
  const auto texts = SplitList(text);
  if (!texts) return std::nullopt;
  std::vector<base::AllowedHost> hosts;
  for (const std::string& item : *texts) {
    const auto host = base::AllowedHost::Parse(item);
    if (!host) return std::nullopt;
    hosts.push_back(*host);
  }
  return hosts;
}

std::optional<base::Rate> Read(const RateLimit&, std::string_view text) {
  return base::ParseRate(text);
}

std::optional<std::string> Read(const PostgresUrl&, std::string_view text) {
  const bool postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
  if (!text.empty() && (!postgres || !IsOneLine(text))) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> Read(const RedisUrl&, std::string_view text) {
  const bool redis = text.starts_with("redis://") || text.starts_with("rediss://") ||
                     text.starts_with("redis+unix://");
  if (!text.empty() && (!redis || !IsOneLine(text))) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> Read(const HttpUrl&, std::string_view text) {
  if (!text.empty() && base::OperatorUrlProblem(text)) return std::nullopt;
  return std::string(text);
}

std::optional<Secret> Read(const SecretText&, std::string_view text) {
  if (text.empty() || text.size() > kMaxTextBytes || !base::IsStorableText(text))
    return std::nullopt;
  return Secret(std::string(text));
}

void Put(const Choice& kind, std::size_t word, Settings& settings) { kind.write(settings, word); }
template <class OneKind, class Value>
void Put(const OneKind& kind, Value value, Settings& settings) {
  kind.member.In(settings) = std::move(value);
}

}  // namespace

std::optional<std::string> Assign(const Kind& kind, std::string_view text, Settings& settings) {
  const auto take = [&](const auto& one) {
    auto value = Read(one, text);
    if (!value) return false;
    Put(one, *std::move(value), settings);
    return true;
  };
  if (std::visit(take, kind)) return std::nullopt;
  // An address may have a password in it, also where none is allowed.
  const bool quotable = !IsSecret(kind) && !std::holds_alternative<PostgresUrl>(kind) &&
                        !std::holds_alternative<RedisUrl>(kind) &&
                        !std::holds_alternative<HttpUrl>(kind);
  return fmt::format("{} is not {}", quotable ? Quoted(text) : "the value", Accepts(kind));
}

std::string ValueText(const Kind& kind, const Settings& settings) {
  return std::visit(
      Overloaded{
          [&](const Text& k) { return k.member.In(settings); },
          [&](const OptionalText& k) { return k.member.In(settings); },
          [&](const TextList& k) {
            return fmt::format("{}", fmt::join(k.member.In(settings), ", "));
          },
          [&](const Choice& k) { return std::string(k.words[k.read(settings)]); },
          [&](const Switch& k) { return std::string(k.member.In(settings) ? "on" : "off"); },
          [&](const Integer& k) { return fmt::to_string(k.member.In(settings)); },
          [&](const Duration& k) { return base::DurationText(k.member.In(settings)); },
          [&](const ByteSize& k) { return ByteSizeText(k.member.In(settings)); },
          [&](const Decimal& k) { return base::MillionthsText(k.member.In(settings)); },
          [&](const HostPort& k) { return AddressText(k.member.In(settings)); },
          [&](const OptionalHostPort& k) { return AddressText(k.member.In(settings)); },
          [&](const IpBlockList& k) {
            std::vector<std::string> texts;
            for (const base::IpBlock& block : k.member.In(settings))
              texts.push_back(block.ToString());
            return fmt::format("{}", fmt::join(texts, ", "));
          },
          [&](const AllowedHostList& k) {
            std::vector<std::string> texts;
            for (const base::AllowedHost& host : k.member.In(settings))
              texts.push_back(host.ToString());
            return fmt::format("{}", fmt::join(texts, ", "));
          },
          [&](const RateLimit& k) { return base::RateText(k.member.In(settings)); },
          [&](const PostgresUrl& k) { return RedactedUrl(k.member.In(settings)); },
          [&](const RedisUrl& k) { return RedactedUrl(k.member.In(settings)); },
          [&](const HttpUrl& k) { return k.member.In(settings); },
          [&](const SecretText& k) {
            return std::string(k.member.In(settings).empty() ? std::string_view{} : kHidden);
          },
      },
      kind);
}

bool SameValue(const Kind& kind, const Settings& left, const Settings& right) {
  return std::visit(Overloaded{
                        [&](const Choice& k) { return k.read(left) == k.read(right); },
                        [&](const auto& k) { return k.member.In(left) == k.member.In(right); },
                    },
                    kind);
}

std::string Accepts(const Kind& kind) {
  return std::visit(
      Overloaded{
          [](const Text&) -> std::string { return "a text of one line"; },
          [](const OptionalText&) -> std::string { return "empty or a text of one line"; },
          [](const TextList& k) {
            return fmt::format("{}texts with commas between them", k.least > 0 ? "" : "empty or ");
          },
          [](const Choice& k) { return fmt::format("one of {}", fmt::join(k.words, ", ")); },
          [](const Switch&) -> std::string { return "on or off"; },
          [](const Integer& k) {
            return fmt::format("a whole number from {} to {}", k.least, k.most);
          },
          [](const Duration& k) {
            return fmt::format("a duration from {} to {} (like 30s, 5m, 1h30m or PT5M)",
                               base::DurationText(k.least_ms), base::DurationText(k.most_ms));
          },
          [](const ByteSize& k) {
            return fmt::format("a size from {} to {} (in B, KiB, MiB or GiB)",
                               ByteSizeText(k.least), ByteSizeText(k.most));
          },
          [](const Decimal& k) {
            return fmt::format("a decimal from 0 to {} with at most six places",
                               k.most / 1'000'000);
          },
          [](const HostPort&) -> std::string { return "an address HOST:PORT"; },
          [](const OptionalHostPort&) -> std::string { return "empty or an address HOST:PORT"; },
          [](const IpBlockList&) -> std::string {
            return "empty or addresses and blocks such as 10.0.0.0/8 with commas between them";
          },
          [](const AllowedHostList&) -> std::string {
            return "empty or hosts with commas between them: hooks.example.com, *.example.com, *, "
                   "or private 10.1.2.3 (in a file {host: 10.1.2.3, private: true})";
          },
          [](const RateLimit&) -> std::string {
            return "off or a rate such as 100/s, 6000/min or 10/h";
          },
          [](const PostgresUrl&) -> std::string { return "empty or an address postgres://…"; },
          [](const RedisUrl&) -> std::string {
            return "empty or an address rediss://…, redis://… or redis+unix://…";
          },
          [](const HttpUrl&) -> std::string {
            return "empty or an address https://… (http://… of this machine)";
          },
          [](const SecretText&) { return fmt::format("a secret of 1 to {} bytes", kMaxTextBytes); },
      },
      kind);
}

bool TakesHosts(const Kind& kind) { return std::holds_alternative<AllowedHostList>(kind); }

bool TakesTexts(const Kind& kind) { return std::holds_alternative<TextList>(kind); }

bool IsSecret(const Kind& kind) { return std::holds_alternative<SecretText>(kind); }

std::optional<std::size_t> ParseByteSize(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::size_t> number = ParseNumber<std::size_t>(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const ByteUnit& unit : kByteUnits) {
    if (text.substr(digits) != unit.name) continue;
    if (*number > std::numeric_limits<std::size_t>::max() / unit.bytes) return std::nullopt;
    return *number * unit.bytes;
  }
  return std::nullopt;
}

std::string ByteSizeText(std::size_t bytes) {
  for (const ByteUnit& unit : kByteUnits)
    if (bytes >= unit.bytes && bytes % unit.bytes == 0)
      return fmt::format("{}{}", bytes / unit.bytes, unit.name);
  return "0B";
}

std::optional<Address> ParseAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint16_t> port = ParseNumber<std::uint16_t>(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || !(bracketed ? IsIpv6(host) : IsHost(host))) return std::nullopt;
  return Address{std::string(host), *port};
}

std::string AddressText(const Address& address) {
  if (address.host.empty()) return "";
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", address.host, address.port)
              : fmt::format("{}:{}", address.host, address.port);
}

}  // namespace tenure::config
