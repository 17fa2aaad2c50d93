#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "seats/prove.hpp"

/// Logs for tests, written as a ledger writes them.
namespace tenure::seats::test {

inline base::Uuid IdOf(std::int64_t number) {
  return *base::Uuid::Parse(fmt::format("00000000-0000-7000-8000-{:012x}", number));
}

class WrittenLog {
 public:
  const base::Uuid license = IdOf(0xabc);

  LogEntry& Add(LogKind kind, std::int64_t at_ms, const std::string& detail = "{}") {
    LogEntry entry;
    entry.license = license;
    entry.seq = static_cast<std::int64_t>(entries.size()) + 1;
    entry.at_ms = at_ms;
    entry.kind = ToText(kind);
    entry.detail = detail;
    return entries.emplace_back(entry);
  }

  void Created(std::int64_t at_ms, int seats) {
    Add(LogKind::kLicenseCreated, at_ms, fmt::format(R"({{"seats":{}}})", seats));
  }
  void Limit(std::int64_t at_ms, int from, int to) {
    Add(LogKind::kLicenseChanged, at_ms,
        fmt::format(R"({{"seats":{},"was":{{"seats":{}}}}})", to, from));
  }
  LogEntry& Seat(LogKind kind, std::int64_t at_ms, int slot, int session,
                 const std::string& detail = "{}") {
    LogEntry& entry = Add(kind, at_ms, detail);
    entry.session = IdOf(session);
    entry.slot = slot;
    entry.fence = fences_[session];
    return entry;
  }
  void Acquired(std::int64_t at_ms, int slot, int session, const std::string& detail = "{}") {
    fences_[session] = ++fence_;
    Seat(LogKind::kSeatAcquired, at_ms, slot, session, detail);
  }
  void Released(std::int64_t at_ms, int slot, int session) {
    Seat(LogKind::kSeatReleased, at_ms, slot, session);
  }
  void Expired(std::int64_t at_ms, int slot, int session) {
    Seat(LogKind::kSeatExpired, at_ms, slot, session);
  }
  void Revived(std::int64_t at_ms, int slot, int session) {
    Seat(LogKind::kSeatRevived, at_ms, slot, session);
  }
  void Revoked(std::int64_t at_ms, int slot, int session, bool force) {
    Seat(LogKind::kSeatRevoked, at_ms, slot, session, fmt::format(R"({{"force":{}}})", force));
  }
  void Resumed(std::int64_t at_ms, int slot, int former, int session) {
    fences_[session] = ++fence_;
    Seat(LogKind::kSeatResumed, at_ms, slot, session,
         fmt::format(R"({{"former":"{}"}})", IdOf(former).ToString()));
  }
  struct Open {
    int session = 0;
    int slot = 0;
  };
  void Checkpoint(std::int64_t at_ms, int seats, int highest, const std::vector<Open>& open) {
    Seal();
    std::string held;
    for (const Open& one : open)
      held +=
          fmt::format(R"({}{{"session_id":"{}","slot":{},"fence":{}}})", held.empty() ? "" : ",",
                      IdOf(one.session).ToString(), one.slot, fences_[one.session]);
    const LogHash previous = entries.empty() ? LogHash{} : entries.back().hash;
    Add(LogKind::kLogCheckpoint, at_ms,
        fmt::format(R"({{"seats":{},"highest":{},"before":"{}","held":[{}]}})", seats, highest,
                    HexOf(previous), held));
  }

  /// The hashes of all entries from here on, as they stand.
  void Seal(std::size_t from = 0) {
    LogHash before = from == 0 ? LogHash{} : entries[from - 1].hash;
    for (std::size_t i = from; i < entries.size(); ++i)
      before = entries[i].hash = HashOf(before, entries[i]);
  }

  LogHead Head() const {
    if (entries.empty()) return {};
    return {entries.back().seq, entries.back().hash};
  }

  std::vector<LogEntry> entries;

 private:
  std::map<int, std::int64_t> fences_;
  std::int64_t fence_ = 100;
};

inline Proof Prove(const std::vector<LogEntry>& entries, const base::Uuid& license,
                   const std::optional<LogHead>& head, const std::vector<LogHead>& kept = {}) {
  Prover prover(license);
  for (const LogHead& one : kept) prover.Expect(one);
  for (const LogEntry& entry : entries) prover.Add(entry);
  return prover.Conclude(head);
}

/// Sealed, with its own head.
inline Proof Prove(WrittenLog& log) {
  log.Seal();
  return Prove(log.entries, log.license, log.Head());
}

}  // namespace tenure::seats::test
