#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/tables.hpp"

namespace tenure::sim {

/// The receiver of usage in a run, and the judge of U1 and U2.
///
/// It looks at the tables after every commit, past all of the product's code, and gets every
/// request that is sent. It remembers all that ever was on record, so nothing that is removed
/// escapes it. It shares no code with the arithmetic that it checks.
///
///  (a) Windows are numbered 1, 2, 3 … without a gap, each begins where the one before ended, at
///      whole multiples of the interval; the first holds the first start.
///  (b) No start or end is committed that lies in a window that was closed before; an ended session
///      never changes; a factor is never set for a time that had come when it was set.
///  (c) A chunk appears once: next in its window, or as a half of the chunk that goes in the same
///      commit. It goes when it is divided, or when the receiver has taken all of it.
///  (d) A session is removed when the receiver has taken all of its usage, not before.
///  (e) Whatever is sent again has the same bytes, record by record and key by key; no two chunks
///      contain the same record, unless one is a part of the other.
///  (f) At the end: a record for every session and window in which it was active, no other, once;
///      and for every session they add up to the integral of its factor over its active time, up to
///      the end of the last window, floored once, to the last micro-unit.
///
/// REQUIRES: every commit and every request is noted, in the order in which they happened.
class UsageBook {
 public:
  UsageBook(store::Tables& tables, std::set<std::int64_t> intervals_ms,
            std::function<void(const std::string&)> complain)
      : tables_(tables), intervals_ms_(std::move(intervals_ms)), complain_(std::move(complain)) {}

  /// A transaction that ran these queries was committed.
  void Committed(const std::set<std::string, std::less<>>& queries);

  /// A request reached the receiver. `takes`: it applies each record that it has not applied, and
  /// never forgets it; otherwise it has only seen it.
  void Received(const std::string& key, const std::string& body, bool takes);

  /// Everything is quiet, and everything that is closed was sent.
  void CheckEnd();
  bool IsDelivered() const;

  std::int64_t applied() const { return static_cast<std::int64_t>(applied_.size()); }
  std::int64_t windows() const { return static_cast<std::int64_t>(windows_.size()); }
  std::int64_t sessions() const { return static_cast<std::int64_t>(sessions_.size()); }

 private:
  struct Session {
    std::string tenant{}, user{}, capacity{};
    int kind = 0;
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    int end_reason = 0;  ///< 0: open
    bool removed = false;

    friend bool operator==(const Session&, const Session&) = default;
  };
  struct Window {
    std::int64_t start_ms = 0;
    std::int64_t end_ms = 0;
    int state = 0;
    std::int64_t chunks = 0;
  };
  struct Chunk {
    std::string first{}, last{};
    std::int64_t records = 0;
  };
  using ChunkName = std::pair<std::int64_t, std::string>;
  using RecordName = std::pair<std::int64_t, std::string>;  ///< window, session
  struct Factor {
    std::int64_t millionths = 0;
    std::int64_t set_ms = 0;

    friend bool operator==(const Factor&, const Factor&) = default;
  };

  void LookAtSessions();
  void CheckChange(const std::string& id, const Session& before, const Session& after);
  void CheckRemoved(const std::string& id, const Session& session);
  void LookAtWindows();
  void LookAtChunks(const std::map<std::int64_t, Window>& windows_before);
  void CheckNewChunk(const ChunkName& name, const std::map<ChunkName, Chunk>& now,
                     const std::map<std::int64_t, Window>& windows_before);
  void LookAtFactors();
  void ReceivedRecord(const ChunkName& chunk, const std::string& record, bool takes);
  void CheckWindows();
  void CheckSession(const std::string& id, const Session& session);
  void CheckRecord(std::int64_t number, const Window& window, const std::string& id,
                   const Session& session);
  std::int64_t SealedMs();
  static bool IsActiveIn(const Session& session, const Window& window);
  bool IsTaken(const ChunkName& name, const Chunk& chunk) const;

  store::Tables& tables_;
  const std::set<std::int64_t> intervals_ms_;
  const std::function<void(const std::string&)> complain_;

  // All that ever was on record.
  std::map<std::string, Session> sessions_;
  std::map<std::int64_t, Window> windows_;
  std::map<std::pair<int, std::int64_t>, Factor> factors_;  // by kind and from_ms
  std::map<ChunkName, Chunk> chunks_;                       // those that are

  // What the receiver saw.
  std::map<std::string, std::string> bodies_;                 // by key
  std::map<RecordName, std::string> records_;                 // their bytes
  std::map<RecordName, std::set<std::string>> contained_in_;  // chunks
  std::map<RecordName, std::int64_t> applied_;                // micro-units
};

}  // namespace tenure::sim
