#include "sink/faults.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"
#include "http/text.hpp"

namespace tenure::sink {
namespace {

constexpr std::int64_t kOne = 1'000'000;  // a probability of 1, in millionths
constexpr std::size_t kMaxShownBytes = 80;

[[noreturn]] void Refuse(std::string_view word, std::string_view why) {
  throw base::UserError(
      fmt::format("the fault '{}' {}", http::Printable(word, kMaxShownBytes), why));
}

/// 400 to 599: what is no success and no redirect.
std::optional<int> ParseStatus(std::string_view text) {
  int status = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, status);
  if (error != std::errc{} || stopped != end || status < 400 || status > 599) return std::nullopt;
  return status;
}

/// "0.05", "1": in millionths.
std::optional<std::int64_t> ParseProbability(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view places = text.substr(std::min(dot + 1, text.size()));
  const std::string digits = fmt::format("{}{:0<6}", text.substr(0, dot), places);
  const bool plain = digits.find_first_not_of("0123456789") == std::string::npos;
  if (dot != 1 || places.size() > 6 || text.ends_with('.') || !plain) return std::nullopt;
  std::int64_t millionths = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), millionths);
  return millionths <= kOne ? std::optional(millionths) : std::nullopt;
}

std::optional<InjectedFault> ParseKind(std::string_view name) {
  if (name == "hang") return InjectedFault{InjectedFault::Kind::kHang};
  if (name == "drop-before") return InjectedFault{InjectedFault::Kind::kDropBefore};
  if (name == "drop-after") return InjectedFault{InjectedFault::Kind::kDropAfter};
  if (const auto status = ParseStatus(name))
    return InjectedFault{InjectedFault::Kind::kStatus, *status};
  return std::nullopt;
}

}  // namespace

Faults Faults::Parse(std::string_view text) {
  Faults faults;
  faults.text_ = text;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    faults.Take(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  std::int64_t sum = 0;
  for (const Chance& chance : faults.chances_) sum += chance.millionths;
  if (sum > kOne) throw base::UserError("the faults' probabilities add up to more than 1");
  return faults;
}

void Faults::Take(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) Refuse(word, "has no ':' and probability behind it");
  const std::string_view name = word.substr(0, colon);
  const std::string_view rest = word.substr(colon + 1);
  if (name == "refuse-session") return TakeRefusal(word, rest);
  const std::optional<InjectedFault> fault = ParseKind(name);
  if (!fault)
    Refuse(word, "is none: there are 400 to 599, hang, drop-before, drop-after, refuse-session");
  const auto millionths = ParseProbability(rest);
  if (!millionths) Refuse(word, "needs a probability from 0 to 1, such as 0.25");
  chances_.push_back({*fault, *millionths});
}

void Faults::TakeRefusal(std::string_view word, std::string_view rest) {
  const std::size_t equals = std::min(rest.find('='), rest.size());
  const auto session = base::Uuid::Parse(rest.substr(0, equals));
  const auto status = ParseStatus(rest.substr(std::min(equals + 1, rest.size())));
  if (!session || !status) Refuse(word, "must look like refuse-session:UUID=422");
  refusals_.push_back({*session, *status});
}

std::optional<int> Faults::RefusalOf(const base::Uuid& session) const {
  for (const Refusal& refusal : refusals_)
    if (refusal.session == session) return refusal.status;
  return std::nullopt;
}

std::optional<InjectedFault> Faults::Draw(std::mt19937_64& random) const {
  // 2^64 is so much more than a million that the remainder's bias does not show.
  auto drawn = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kOne));
  for (const Chance& chance : chances_) {
    if (drawn < chance.millionths) return chance.fault;
    drawn -= chance.millionths;
  }
  return std::nullopt;
}

}  // namespace tenure::sink
