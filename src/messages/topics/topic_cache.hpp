#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "db/engine.hpp"

namespace tenure::messages {

/// What this process remembers of topics, to save work and for nothing else: which lines of a topic
/// were ever used, and how far each line has been emptied.
///
/// Invariants:
///  (1) A topic that is known here had that number, and its row those lines, at some time in the
///      last kValidMs. A row that is closed in between is deleted only much later
///      (unused_topics.hpp), and with a new incarnation (a restored store, which every connection
///      notices when it is made) everything is forgotten. So the number is right for as long as it
///      is used here: in a transaction that was open when it was asked for. What is not known may
///      be there all the same.
///  (2) A claim looks at a line from its low-water mark on. Whatever lies below was claimed, or was
///      committed late (its position was taken before its transaction committed), or its claim was
///      rolled back: for these a claim looks from the bottom when there is nothing above the mark,
///      and every kRescanMs. Where such looks take long at most a twentieth of the time is spent
///      on them. Each topic has its own turn: one that is asked for all the time takes none of
///      those that are asked for now and then. The mark never decides who gets a message.
///
/// Without marks a claim steps over every message that is claimed and not yet done, and on
/// PostgreSQL over every one that is done but cannot be removed because of a snapshot somewhere.
///
/// Threads: any.
class TopicCache {
 public:
  TopicCache(const db::Engine& engine, const base::Clock& clock) : engine_(engine), clock_(clock) {}

  static constexpr std::int64_t kRescanMs = 500;
  static constexpr std::int64_t kValidMs = 60'000;
  static constexpr std::size_t kRecent = 16;
  /// Behind every position.
  static constexpr std::int64_t kTop = std::numeric_limits<std::int64_t>::max();

  struct Line {
    std::int64_t line = 0;
    std::int64_t from_pos = 0;
  };
  /// Where a claim should look for a topic's messages.
  struct Look {
    std::vector<Line> lines{};
    bool from_bottom = false;    ///< it is this topic's turn to be looked at as a whole
    bool may_look_below = true;  ///< that is cheap enough to be done at any time
  };

  /// What the row of a topic says. REQUIRES, where it is learnt: it is committed.
  struct Known {
    std::string tenant{};
    std::string topic{};
    std::int64_t topic_id = 0;
    std::int64_t lines = 0;  ///< bits
    /// Read after this. 0: nobody knows when, so its number is not used.
    std::int64_t as_of_boot_ms = 0;
  };
  void Learn(const Known& known);
  /// Its number, if all of these lines are known to be in its row.
  std::optional<std::int64_t> IdOf(std::string_view tenant, std::string_view topic,
                                   std::int64_t lines) const;
  /// Topics are numbered as they are seen: who divides work by this number divides it evenly, even
  /// among few topics (by hash three of four may meet). The number stays the same until so many
  /// were seen that all are forgotten.
  std::size_t TurnOf(std::string_view tenant, std::string_view topic);
  /// The lines that are known; those of the default priority for a topic that is not. About every
  /// kRescanMs from the bottom.
  Look LinesOf(std::string_view tenant, std::string_view topic);
  /// Messages of this topic were handed out or finished. REQUIRES, as above: its row is committed.
  void Used(const Known& known);
  /// The topics of a tenant that were used last, at most kRecent: what is acknowledged next is
  /// probably of one of them.
  std::vector<Known> RecentOf(std::string_view tenant) const;
  /// Everything below `from_pos` was taken.
  void Emptied(std::string_view tenant, std::string_view topic, const Line& line);
  /// How long a look below the marks took.
  void RescanTook(std::string_view tenant, std::string_view topic, std::int64_t took_ms);

  const base::Clock& clock() const { return clock_; }

 private:
  struct Topic {
    std::int64_t topic_id = 0;
    std::int64_t lines = 0;
    std::int64_t as_of_boot_ms = 0;
    std::map<std::int64_t, std::int64_t> from_pos{};
    std::int64_t next_rescan_boot_ms = 0;
    std::int64_t spare_until_boot_ms = 0;  // the last one took long
  };
  using Key = std::pair<std::string, std::string>;

  std::map<Key, Topic>& Topics() const TENURE_REQUIRES(mutex_);

  const db::Engine& engine_;
  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  // What is forgotten is only a memory, so const functions may.
  mutable std::map<Key, Topic> topics_ TENURE_GUARDED_BY(mutex_);
  mutable std::map<std::string, std::vector<Known>, std::less<>> recent_
      TENURE_GUARDED_BY(mutex_);  // the last one first
  mutable std::int64_t incarnation_ TENURE_GUARDED_BY(mutex_) = 0;
  std::map<Key, std::size_t> turns_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::messages
