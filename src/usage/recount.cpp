#include "usage/recount.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/time_text.hpp"

namespace tenure::usage {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kThirtyDaysMs = 2'592'000'000;
constexpr std::size_t kMostShown = 100;

std::string Units(std::int64_t micros) { return base::MillionthsText(micros); }

}  // namespace

void Recount::Differ(std::string sentence) {
  ++difference_count_;
  if (differences_.size() < kMostShown) differences_.push_back(std::move(sentence));
}

void Recount::AddWindow(const Window& window) {
  if (window.start_ms >= window.end_ms)
    Differ(fmt::format("window {} ends before it begins", window.number));
  if (!windows_.empty()) {
    const Window& next = windows_.back();
    if (window.number != next.number - 1)
      Differ(fmt::format("window {} follows window {}", next.number, window.number));
    if (window.end_ms != next.start_ms)
      Differ(fmt::format("window {} ends at {}, but window {} begins at {}", window.number,
                         base::UtcText(window.end_ms), next.number, base::UtcText(next.start_ms)));
  }
  windows_.push_back(window);
}

void Recount::AddFactor(const Factor& factor) {
  if (factor.kind < 1 || factor.kind > kKinds)
    return Differ(fmt::format("there is a factor of kind {}", factor.kind));
  factors_.at(static_cast<std::size_t>(factor.kind - 1)).push_back(factor);
}

void Recount::AddSession(const MeteredSession& session) {
  if (session.kind < 1 || session.kind > kKinds)
    return Differ(fmt::format("session {} is of kind {}", session.id.ToString(), session.kind));
  if (!sessions_.emplace(session.id, Account{.session = session}).second)
    Differ(fmt::format("session {} is listed twice", session.id.ToString()));
}

void Recount::ForgetUpTo(std::int64_t window) {
  while (!windows_.empty() && windows_.back().number <= window) windows_.pop_back();
}

const Recount::Window* Recount::FindWindow(std::int64_t number) const {
  if (windows_.empty()) return nullptr;
  const std::int64_t at = windows_.front().number - number;
  if (at < 0 || at >= static_cast<std::int64_t>(windows_.size())) return nullptr;
  const Window& window = windows_[static_cast<std::size_t>(at)];
  return window.number == number ? &window : nullptr;
}

std::int64_t Recount::MicrosUntil(const MeteredSession& session, std::int64_t t_ms) const {
  const auto& factors = factors_[static_cast<std::size_t>(session.kind - 1)];
  const std::int64_t until_ms = std::min(session.end_ms, t_ms);
  Wide weighted = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::int64_t period_end_ms =
        i + 1 < factors.size() ? factors[i + 1].from_ms : std::numeric_limits<std::int64_t>::max();
    const std::int64_t from_ms = std::max(session.start_ms, factors[i].from_ms);
    const std::int64_t to_ms = std::min(until_ms, period_end_ms);
    if (to_ms > from_ms)
      weighted += static_cast<Wide>(to_ms - from_ms) * static_cast<Wide>(factors[i].millionths);
  }
  return static_cast<std::int64_t>(weighted / kThirtyDaysMs);
}

/// How many of the windows it was active in: each must have a record, also of 0.000000.
std::int64_t Recount::WindowsOf(const MeteredSession& session) const {
  if (session.start_ms >= session.end_ms) return 0;
  // Newest first: those that begin after its end come first, those that end before its start last.
  const auto newest = std::ranges::partition_point(
      windows_, [&](const Window& window) { return window.start_ms >= session.end_ms; });
  const auto behind = std::ranges::partition_point(
      windows_, [&](const Window& window) { return window.end_ms > session.start_ms; });
  return std::max<std::int64_t>(behind - newest, 0);
}

Recount::Account* Recount::AccountOf(const sink::Record& record) {
  const auto found = sessions_.find(record.session);
  if (found != sessions_.end()) return &found->second;
  Differ(fmt::format("record {} is of a session that does not exist", sink::RecordId(record)));
  return nullptr;
}

void Recount::CheckRecord(const sink::Record& record, const Account& account) {
  const MeteredSession& session = account.session;
  const std::string id = sink::RecordId(record);
  const Window* const window = FindWindow(record.window);
  if (window == nullptr) return Differ(fmt::format("record {} is of no window", id));
  if (record.start_ms != window->start_ms || record.end_ms != window->end_ms)
    Differ(fmt::format("record {} has other times than its window", id));
  if (record.user != session.user || record.tenant != session.tenant ||
      record.capacity != session.capacity || record.kind != session.kind)
    Differ(fmt::format("record {} does not say what its session says", id));
  if (account.last_window == record.window) Differ(fmt::format("record {} comes twice", id));
  const std::int64_t expected =
      MicrosUntil(session, window->end_ms) - MicrosUntil(session, window->start_ms);
  if (record.usage != expected)
    Differ(fmt::format("record {} says {}, its session's active time makes {}", id,
                       Units(record.usage), Units(expected)));
}

void Recount::AddRecord(const sink::Record& record, Delivered delivered) {
  ++records_;
  micros_ += record.usage;
  Account* const account = AccountOf(record);
  if (account == nullptr) return;
  CheckRecord(record, *account);
  account->last_window = record.window;
  account->micros += record.usage;
  ++account->records;
  account->most_received += record.usage;
  if (delivered == Delivered::kYes) account->least_received += record.usage;
}

void Recount::AddLaterRecord(const sink::Record& record) {
  const auto found = sessions_.find(record.session);
  // One that began meanwhile is not known here: the receiver may have any of it.
  if (found != sessions_.end()) found->second.most_received += record.usage;
}

void Recount::Conclude() {
  if (windows_.empty()) return;
  for (const auto& [id, account] : sessions_) {
    const std::int64_t expected = MicrosUntil(account.session, last().end_ms) -
                                  MicrosUntil(account.session, first().start_ms);
    if (account.micros != expected)
      Differ(fmt::format("session {}: its records add up to {}, its active time makes {}",
                         id.ToString(), Units(account.micros), Units(expected)));
    const std::int64_t windows = WindowsOf(account.session);
    if (account.records != windows)
      Differ(fmt::format("session {}: it was active in {} windows and has {} records",
                         id.ToString(), windows, account.records));
  }
}

void Recount::AddReceived(const base::Uuid& session, std::int64_t micros) {
  received_micros_ += micros;
  const auto found = sessions_.find(session);
  if (found != sessions_.end())
    found->second.received += micros;
  else if (IsWhole() && session.TimestampMs() < last().end_ms)  // an id tells when it began
    Differ(fmt::format("the receiver has {} of session {}, which does not exist", Units(micros),
                       session.ToString()));
}

void Recount::ConcludeReceiver(std::int64_t conflicts) {
  if (conflicts > 0)
    Differ(fmt::format("the receiver got {} records again with other content", conflicts));
  for (const auto& [id, account] : sessions_) {
    if (account.received < account.least_received)
      Differ(fmt::format("session {}: the receiver has {}, but has acknowledged {}", id.ToString(),
                         Units(account.received), Units(account.least_received)));
    const bool all_known = IsWhole() || account.session.start_ms >= first().start_ms;
    if (all_known && account.received > account.most_received)
      Differ(fmt::format("session {}: the receiver has {}, but only {} was used", id.ToString(),
                         Units(account.received), Units(account.most_received)));
  }
}

}  // namespace tenure::usage
