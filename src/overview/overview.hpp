#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "db/store.hpp"
#include "explain/glance.hpp"
#include "http/router.hpp"
#include "http/traffic.hpp"
#include "overview/board.hpp"
#include "overview/series.hpp"

namespace tenure::overview {

/// What the overview is made of. All of it outlives it.
struct Parts {
  db::Store& store;
  const base::Clock& clock;
  std::string process{};  ///< this one ("host:pid:random")
  std::string version{};
  bool workers = false;
  /// Of each capability that has something to show, from memory.
  std::vector<std::pair<std::string_view, std::function<explain::Glance()>>> glances{};
  std::function<std::vector<explain::Concern>()> concerns{};  ///< of the server itself
  std::function<http::Traffic()> traffic{};                   ///< since its start
};

/// Gathers every 10 seconds how it all is, and answers from memory.
///
/// Threads: Look and Leave by one at a time; Now from any.
class Overview {
 public:
  explicit Overview(Parts parts);

  /// Gathers. Throws base::Fault when the store could not be asked for the other processes; then all
  /// but them is of now.
  void Look();
  /// Says good-bye to the other processes, as far as the store takes it.
  void Leave();

  std::shared_ptr<const Board> Now() const;
  std::int64_t WallMs() const { return parts_.clock.WallMs(); }

 private:
  /// What was answered since the last look.
  struct Rates {
    std::int64_t requests_per_1000s = 0;
    Series::Values values{};
  };
  Rates RatesSince(const http::Traffic& traffic, std::int64_t boot_ms);
  BeatReply Beat(bool leaves);
  void Show(Board board);

  const Parts parts_;
  db::Write<BeatInstances> beat_;
  const std::int64_t started_ms_;
  Series series_;
  http::Traffic last_{};
  std::int64_t last_boot_ms_ = 0;
  std::int64_t requests_per_1000s_ = 0;

  mutable base::Mutex mutex_;
  std::shared_ptr<const Board> board_ TENURE_GUARDED_BY(mutex_);
};

/// /api/v1/overview and /api/v1/instances. `overview` must outlive the router.
void AddRoutes(http::Router& router, const Overview& overview);

}  // namespace tenure::overview
