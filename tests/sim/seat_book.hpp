#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.hpp"
#include "seats/log_entry.hpp"
#include "seats/prove.hpp"
#include "store/tables.hpp"

namespace tenure::sim {

/// What the tables say of one licence after a commit.
struct SeatPicture {
  struct Row {
    bool open = true;
    std::string session{};  ///< empty: none
    std::string machine{};
    std::int64_t expires_ms = 0;
    bool is_offered = false;
  };
  struct Ticket {
    std::string machine{};
    std::int64_t expires_ms = 0;
    bool is_offered = false;
  };
  std::int64_t now_ms = 0;  ///< the store's
  std::int64_t limit = 0;
  std::int64_t state = 0;                    ///< 0: active
  std::map<std::int64_t, Row> rows{};        ///< by slot
  std::map<std::int64_t, Ticket> tickets{};  ///< by number
};
SeatPicture ReadSeatPicture(store::Tables& tables, const base::Uuid& license, std::int64_t now_ms);

/// The judge of seats: what clients believed, when, and whether that was right (K1, K2). It knows the answers that they
/// were given and what the tables said after each commit, and none of the rules' code. `../stepped` has it, too.
///
/// A belief is an answer that was heard: it begins when the answer was committed, and lasts for as long as the answer
/// said, counted from when its request was sent. It ends earlier where the client stops: it releases, dies, or hears
/// that it is over. Belief is by machine: two processes under one machine's id share a seat.
class SeatBook {
 public:
  using Report = std::function<void(const std::string&)>;
  explicit SeatBook(Report report) : report_(std::move(report)) {}

  struct Heard {
    enum class What { kGrant, kResume, kRevive, kBeat };
    What what = What::kGrant;
    base::Uuid session{};
    std::string machine{};
    std::string person{};
    int commit = 0;
    std::int64_t at_ms = 0;       ///< of the commit, on the clients' clock
    std::int64_t until_ms = 0;    ///< what is believed, on the same
    std::int64_t now_ms = 0;      ///< when it was decided, on the store's
    std::int64_t expires_ms = 0;  ///< the deadline that was told, on the store's
    std::int64_t fence = 0;       ///< 0: not told
  };
  void Hears(const Heard& heard);
  /// What this holding's holder believes is over, or it never came to believe it.
  void Stops(const base::Uuid& session, std::int64_t at_ms);
  /// An operator took the machine's seat by force: K1 is waived for what its processes believe.
  void Waives(const std::string& machine, std::int64_t at_ms);
  /// It was told that a holding has ended at its deadline.
  void HearsExpired(const base::Uuid& session, std::int64_t ended_ms);
  /// It was told that its holding is over at once: released, or taken by force.
  void HearsEnd(const std::string& machine, int commit);
  /// The limit that is in force from this commit on.
  void Limit(int commit, std::int64_t seats);

  /// An answer was lost, or somebody died who was to hear one: what was told is not all that was done.
  void Misses() { is_whole_ = false; }
  bool is_whole() const { return is_whole_; }

  /// After each commit. Nobody overtakes: whoever is given a seat, or has its lapsed one revived, finds nobody before
  /// it who waits, before and after.
  void Committed(const SeatPicture& now);
  /// The store is an older copy: it may have forgotten what was told.
  void Restored() {
    is_whole_ = false;
    is_restored_ = true;
  }

  /// At the end: K1 at every grant, the same person, and the log against what was told.
  void Judge(const std::vector<seats::LogEntry>& log, const seats::LogHead& head);

  std::int64_t grants() const { return grants_; }
  /// The most machines that believed at once, of which one was just given its seat.
  std::int64_t most() const { return most_; }
  const std::optional<SeatPicture>& picture() const { return picture_; }

 private:
  struct Entry {
    Heard heard{};
    bool ends = false;  ///< the machine's holding is over
  };
  std::int64_t EndOf(const Heard& heard) const;
  void JudgeBeliefs();
  void JudgeFences();
  void JudgeLog(const std::vector<seats::LogEntry>& log, const seats::LogHead& head);
  std::int64_t MostAsTold() const;

  const Report report_;
  bool is_whole_ = true;
  bool is_restored_ = false;
  std::vector<Entry> entries_;
  std::map<base::Uuid, std::int64_t> stopped_;
  std::map<base::Uuid, std::int64_t> told_;  // the latest deadline, on the store's clock
  std::map<std::string, std::vector<std::int64_t>> waived_;
  std::map<int, std::int64_t> limits_;
  std::optional<SeatPicture> picture_;
  std::int64_t grants_ = 0;
  std::int64_t most_ = 0;
};

}  // namespace tenure::sim
