#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace tenure::queues {

/// Gives sessions that become ready their places. Shares are served in turn: a session stands
/// behind the ready ones of its own share, and no farther back than one behind the first of all:
///
///   place = max(first of all that are ready, last of its share) + 1
///
/// So a place has at most one session of each share (and as many more as transactions that gave
/// places at the same time): with G shares that have ready sessions, G places hand out one of each.
class Line {
 public:
  struct Share {
    std::int64_t queue = 0;
    std::int64_t generation = 0;
    std::string share{};
    friend auto operator<=>(const Share&, const Share&) = default;
  };

  /// What is there: 0: nothing is ready.
  void Know(const Share& share, std::int64_t first_of_all, std::int64_t last_of_share) {
    levels_[share] = {first_of_all, last_of_share};
  }
  std::int64_t NextPlace(const Share& share) {
    Level& level = levels_[share];
    level.last_of_share =
        (level.first_of_all > level.last_of_share ? level.first_of_all : level.last_of_share) + 1;
    return level.last_of_share;
  }

 private:
  struct Level {
    std::int64_t first_of_all = 0;
    std::int64_t last_of_share = 0;
  };
  std::map<Share, Level> levels_;
};

}  // namespace tenure::queues
