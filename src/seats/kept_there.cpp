#include "seats/kept_there.hpp"

#include <utility>

namespace tenure::seats {

void AddKnownThere(BeatPath* path, std::vector<Holding> holdings, base::Executor* home,
                   base::UniqueFunction<std::vector<Holding>> done) {
  std::vector<HoldingPlace> places;
  std::vector<std::size_t> which;
  for (std::size_t i = 0; path && i < holdings.size(); ++i) {
    const SeatRow& row = holdings[i].row;
    if (!row.is_held() || row.horizon_ms <= holdings[i].now_ms) continue;
    places.push_back({row.slot, row.fence});
    which.push_back(i);
  }
  if (places.empty()) return done(std::move(holdings));
  const base::Uuid license = holdings[which.front()].license;
  path->Ask(license, std::move(places),
            [which = std::move(which), holdings = std::move(holdings), home,
             done = std::move(done)](const std::vector<KnownThere>& known) mutable {
              for (std::size_t i = 0; i < which.size(); ++i) {
                holdings[which[i]].redis_ms = known[i].until_ms;
                holdings[which[i]].redis_beat_ms = known[i].beat_ms;
              }
              home->Post([holdings = std::move(holdings), done = std::move(done)]() mutable {
                done(std::move(holdings));
              });
            });
}

}  // namespace tenure::seats
