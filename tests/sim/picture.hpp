#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/uuid.hpp"
#include "messages/claim.hpp"

namespace tenure::sim {

/// Where a message is (messages/README.md, invariants 1 and 2).
enum class Place { kAbsent, kWaiting, kReady, kClaimed, kDead, kFinished };

/// A message as the tables have it.
struct MessageRow {
  Place place = Place::kAbsent;
  std::int64_t number = 0;  ///< its payload: which enqueue it came from
  std::string topic{};
  std::int64_t pos = 0;
  std::int64_t due_ms = 0;
  std::int64_t fence = 0;
  std::int64_t lease_until_ms = 0;
  std::int64_t worker = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;

  friend bool operator==(const MessageRow&, const MessageRow&) = default;
};

struct ClaimRow {
  std::int64_t started = 0;
  std::vector<messages::Handed> messages{};
};

/// Everything that is on record about messages after one commit.
struct Picture {
  std::int64_t now_ms = 0;  ///< the store's clock at that commit
  std::map<base::Uuid, MessageRow> messages{};
  std::vector<ClaimRow> claims{};
  std::map<std::int64_t, std::int64_t> workers{};  ///< until when each lives
  std::set<std::string> paused{};                  ///< topics
  std::string twice{};                             ///< a message that is in two places
};

}  // namespace tenure::sim
