#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/secret.hpp"
#include "config/settings.hpp"

namespace tenure::config {

// The kinds of values that settings have. A kind knows which member of Settings it fills and what
// it accepts; text goes in through Assign and comes out through ValueText.

/// The place of one value in Settings. Made from a stateless generic lambda
/// `[](auto& s) -> auto& { return s.log.level; }`, so that one line of the table serves reading and
/// writing.
template <class T>
class Member {
 public:
  template <class Path>
  requires std::is_invocable_r_v<T&, Path, Settings&>
  constexpr Member(Path)  // NOLINT(google-explicit-constructor): the table reads better without
      : write_([](Settings& s) -> T& { return Path{}(s); }),
        read_([](const Settings& s) -> const T& { return Path{}(s); }) {}

  T& In(Settings& settings) const { return write_(settings); }
  const T& In(const Settings& settings) const { return read_(settings); }

 private:
  T& (*write_)(Settings&);
  const T& (*read_)(const Settings&);
};

/// Any text of one line that is not empty.
struct Text {
  Member<std::string> member;
};

/// The same, or nothing.
struct OptionalText {
  Member<std::string> member;
};

/// Several such texts, with commas between them; at least so many.
struct TextList {
  Member<std::vector<std::string>> member;
  std::size_t least;
};

/// One of a few words. `words` follow the values of the member's enum, from 0 up.
struct Choice {
  template <class Path>
  constexpr Choice(Path, std::span<const std::string_view> in_order)
      : words(in_order),
        read([](const Settings& s) { return static_cast<std::size_t>(Path{}(s)); }),
        write([](Settings& s, std::size_t word) {
          auto& member = Path{}(s);
          member = static_cast<std::remove_reference_t<decltype(member)>>(word);
        }) {}

  std::span<const std::string_view> words;
  std::size_t (*read)(const Settings&);
  void (*write)(Settings&, std::size_t word);
};

/// "on" or "off"; "true" and "false" are read too.
struct Switch {
  Member<bool> member;
};

struct Integer {
  Member<int> member;
  int least;
  int most;
};

/// As base::ParseDurationMs reads it.
struct Duration {
  Member<std::int64_t> member;
  std::int64_t least_ms;
  std::int64_t most_ms;
};

/// A number with B, KiB, MiB or GiB.
struct ByteSize {
  Member<std::size_t> member;
  std::size_t least;
  std::size_t most;
};

/// A decimal with up to six places, kept in millionths (base/decimal.hpp).
struct Decimal {
  Member<std::int64_t> member;
  std::int64_t most;  ///< in millionths
};

/// HOST:PORT; IPv6 addresses in brackets.
struct HostPort {
  Member<Address> member;
};

/// The same, or nothing.
struct OptionalHostPort {
  Member<Address> member;
};

/// Addresses and blocks of addresses (base/ip.hpp), with commas between them; or nothing.
struct IpBlockList {
  Member<std::vector<base::IpBlock>> member;
};

/// Hosts that tenants may have something sent to (base/allowed_host.hpp), with commas between them; or
/// nothing. In a file also a list, whose elements are patterns and mappings {host, private: true}.
struct AllowedHostList {
  Member<std::vector<base::AllowedHost>> member;
};

/// How often something may happen, as base::ParseRate reads it.
struct RateLimit {
  Member<base::Rate> member;
};

/// Empty, or postgres://… (postgresql://…). Shown without its password.
struct PostgresUrl {
  Member<std::string> member;
};

/// Empty, or redis://…, rediss://…, redis+unix://…. Shown without its password.
struct RedisUrl {
  Member<std::string> member;
};

/// Empty, or the whole address that something is sent to, as base::OperatorUrlProblem wants it.
struct HttpUrl {
  Member<std::string> member;
};

/// Comes from the environment, or from a file that is named by the setting with "_file" appended;
/// never from the configuration file or the command line, where others can read it. Never shown.
struct SecretText {
  Member<Secret> member;
};

using Kind = std::variant<Text, OptionalText, TextList, Choice, Switch, Integer, Duration, ByteSize,
                          Decimal, HostPort, OptionalHostPort, IpBlockList, AllowedHostList,
                          RateLimit, PostgresUrl, RedisUrl, HttpUrl, SecretText>;

/// Puts `text` into the kind's member. When the kind does not accept it, `settings` stays as it is
/// and the sentence that says why comes back; it quotes no secret.
std::optional<std::string> Assign(const Kind& kind, std::string_view text, Settings& settings);

/// The member's value as Assign reads it, except for secrets: those are shown as "***".
std::string ValueText(const Kind& kind, const Settings& settings);

/// Whether both have the same value there, secrets included.
bool SameValue(const Kind& kind, const Settings& left, const Settings& right);

/// What the kind accepts, to follow "is not" or "takes": "a duration from 1s to 10m".
std::string Accepts(const Kind& kind);

bool IsSecret(const Kind& kind);

/// Whether a file may write it as a list of values and of mappings {host, private: true}.
bool TakesHosts(const Kind& kind);
/// Whether a file may write it as a list of texts.
bool TakesTexts(const Kind& kind);

/// "64KiB", "1MiB", "512B".
std::optional<std::size_t> ParseByteSize(std::string_view text);
std::string ByteSizeText(std::size_t bytes);

/// "127.0.0.1:8080", "[::1]:0"; of an empty address nothing.
std::optional<Address> ParseAddress(std::string_view text);
std::string AddressText(const Address& address);

}  // namespace tenure::config
