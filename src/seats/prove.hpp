#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "seats/log_detail.hpp"
#include "seats/log_entry.hpp"

namespace tenure::seats {

/// The end of a log: its last entry and that entry's hash.
struct LogHead {
  std::int64_t seq = 0;  ///< 0: the log is empty
  LogHash hash{};
};

/// Something that must not be. `seq` is the entry that it is named by; 0: the log as a whole.
struct Finding {
  std::int64_t seq = 0;
  std::string text{};
};

/// What a log says of its licence, and whether it can be believed.
struct Proof {
  base::Uuid license{};
  std::int64_t first_seq = 0;  ///< 1, or a checkpoint's; 0: there is no entry
  std::int64_t entries = 0;    ///< that were read
  LogHead head{};              ///< as read
  std::int64_t limit = 0;      ///< in the end
  std::int64_t held = 0;       ///< in the end
  std::int64_t highest = 0;    ///< number held at once
  std::int64_t highest_at_ms = 0;
  std::int64_t highest_seq = 0;  ///< of the grant that reached it; 0: before the log's checkpoint

  /// More seats were held than a lowered limit had.
  struct OverLimit {
    std::int64_t from_seq = 0;
    std::int64_t from_ms = 0;
    std::int64_t until_ms = 0;  ///< 0: it lasts
    std::int64_t limit = 0;     ///< the lowest meanwhile
    std::int64_t most = 0;      ///< held meanwhile
  };
  /// The clock had been set back: these entries were judged by their order alone.
  struct ByPlace {
    std::int64_t from_seq = 0;
    std::int64_t to_seq = 0;
    std::int64_t from_ms = 0;
    std::int64_t to_ms = 0;
  };
  /// An entry that a reader should know of.
  struct Mark {
    std::int64_t seq = 0;
    std::int64_t at_ms = 0;
  };
  /// The first kMost of each, and how many there are.
  static constexpr std::size_t kMost = 100;
  template <class T>
  struct Some {
    std::vector<T> first{};
    std::int64_t count = 0;

    void Add(T one) {
      ++count;
      if (first.size() < kMost) first.push_back(std::move(one));
    }
  };
  Some<OverLimit> over_limit{};
  Some<ByPlace> by_place{};
  Some<Mark> forced{};    ///< ends by force: the seat was given on before its deadline
  Some<Mark> restores{};  ///< of the store, from an older copy
  Some<Finding> findings{};

  bool proven() const { return findings.count == 0; }
};

/// Checks the log of one licence, from its entries alone:
///
///  (1) Numbers are dense from 1 or a checkpoint, every hash is that of the entry and the hash
///      before it, and the last one is the head that the licence's row names.
///  (2) Times never fall. EXPIRED has the time of the deadline, which lies between the holding's
///      start and the entry's writing.
///  (3) Replayed in order: a seat is given only when its last holding has ended, an end names the
///      holding of its seat, RESUMED continues one that has not ended. Fences rise.
///  (4) At each ACQUIRED and REVIVED the other holdings that have not ended are fewer than the
///      limit in force.
///
/// An EXPIRED ends its holding at its time and not at its place, because it may be written after
/// the next grant; every other end counts at its place; without an end a seat is held. Where the
/// clock had been set back (`clock_ms`) times cannot be compared with those before: there, and
/// across such a stretch, the place counts alone. That judges more strictly, never less.
///
/// After the first break of the chain nothing is replayed any more: what comes after it would be
/// blamed for what is missing.
///
/// Pure: no I/O. Whoever writes the whole database can write a whole new chain; only heads that
/// were kept elsewhere (`Expect`) show that.
///
/// Memory: 40 bytes per entry that gives or ends a seat, so that an end may be sorted in among
/// grants that were written before it.
class Prover {
 public:
  explicit Prover(const base::Uuid& license);

  /// A head that was kept elsewhere. REQUIRES: before the first `Add`.
  void Expect(const LogHead& head);
  /// The next entry as it stands in the log.
  void Add(const LogEntry& entry);
  /// `head`: as the licence's row has it, where it is known.
  Proof Conclude(const std::optional<LogHead>& head);

 private:
  struct Holding {
    base::Uuid session{};
    std::int64_t start_ms = 0;  // by the clock
    std::size_t since = 0;      // the first moment that it can end before
    bool is_open = false;
    bool has_expired = false;
  };
  /// What changes the number of holdings, or the limit, in the order of the log.
  struct Moment {
    enum class What : std::uint8_t { kGrant, kEnd, kLimit };
    std::int64_t at_ms = 0;
    std::int64_t seq = 0;
    std::int32_t limit = 0;
    What what = What::kGrant;
  };
  /// An EXPIRED, sorted in before the moment of that index.
  struct Lapse {
    std::size_t before = 0;
    std::int64_t at_ms = 0;
  };
  class Timeline;

  void Report(std::int64_t seq, std::string text);

  // (1)
  bool CheckPlace(const LogEntry& entry);
  void CheckStart(const LogEntry& entry);
  void CheckHash(const LogEntry& entry);
  void CheckExpected(const LogEntry& entry);
  void Skip(std::int64_t first, std::int64_t last);
  void FoundOutOfPlace(const LogEntry& entry);
  void ReportMissing();

  // (2) and (3)
  void Replay(const LogEntry& entry);
  void CheckTime(const LogEntry& entry, const LogDetail& detail);
  void Grant(const LogEntry& entry, const LogDetail& detail);
  void Revive(const LogEntry& entry, const LogDetail& detail);
  void Resume(const LogEntry& entry, const LogDetail& detail);
  void End(const LogEntry& entry);
  void Lapsed(const LogEntry& entry);
  void Revoke(const LogEntry& entry, const LogDetail& detail);
  void ChangeLimit(const LogEntry& entry, const LogDetail& detail);
  void Checkpoint(const LogEntry& entry, const LogDetail& detail);
  void Begin(const LogEntry& entry, const LogDetail& detail);
  void CompareCheckpoint(const LogEntry& entry, const LogDetail& detail);
  void RaiseFence(const LogEntry& entry);
  /// The holding that the entry names, if it is the open one of its seat; else reports.
  Holding* OpenHolding(const LogEntry& entry, const base::Uuid& session, std::string_view doing);
  Holding Started(const LogEntry& entry, const LogDetail& detail) const;
  void Put(const LogEntry& entry, Moment::What what, std::int64_t limit = 0);

  Proof proof_;
  std::map<std::int64_t, LogHash> expected_;

  // (1)
  std::int64_t next_ = 0;  // the number that comes next; 0: nothing was read
  std::optional<LogHash> before_{};
  std::optional<LogHash> before_by_text_{};  // of an entry whose own hash was not right
  std::vector<std::pair<std::int64_t, std::int64_t>> missing_{};
  bool is_whole_ = true;  // no break so far: entries are replayed

  // (2) and (3)
  std::int64_t last_ms_ = 0;
  std::int64_t latest_lapse_ms_ = 0;   // of EXPIRED entries since the last other one
  std::int64_t latest_lapse_seq_ = 0;  // 0: none
  std::int64_t fence_ = 0;
  std::unordered_map<std::int64_t, Holding> seats_{};  // by slot
  std::int64_t open_ = 0;                              // of them, by place
  std::optional<Proof::ByPlace> stretch_{};
  std::size_t barrier_ = 0;  // no EXPIRED is sorted in before this moment

  // (4)
  std::vector<Moment> moments_{};
  std::vector<Lapse> lapses_{};
  std::int64_t held_at_start_ = 0;
  std::int64_t limit_at_start_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> checkpoints_{};  // (seq, highest so far)
};

}  // namespace tenure::seats
