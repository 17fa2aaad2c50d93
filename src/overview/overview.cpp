#include "overview/overview.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>

#include <fmt/format.h>

#include "base/error.hpp"
#include "overview/attention.hpp"

namespace tenure::overview {
namespace {

constexpr std::int64_t kPerMs = 1'000'000;  // of a figure per 1000 s, in what happened per ms

/// A store that hangs does not keep a process from ending.
constexpr std::chrono::milliseconds kGoodByeTime(1'000);

std::string HostOf(const std::string& process) { return process.substr(0, process.find(':')); }

}  // namespace

Overview::Overview(Parts parts)
    : parts_(std::move(parts)),
      beat_(parts_.store, "overview.beat", db::LaneName::Shared(0)),
      started_ms_(parts_.clock.WallMs()),
      board_(std::make_shared<Board>()) {}

Overview::Rates Overview::RatesSince(const http::Traffic& traffic, std::int64_t boot_ms) {
  Rates rates;
  const std::int64_t took_ms = boot_ms - last_boot_ms_;
  if (last_boot_ms_ > 0 && took_ms > 0) {
    const http::Traffic since = traffic.Since(last_);
    rates.requests_per_1000s = static_cast<std::int64_t>(since.answered) * kPerMs / took_ms;
    rates.values["http.requests_per_1000s"] = rates.requests_per_1000s;
    rates.values["http.errors_per_1000s"] =
        static_cast<std::int64_t>(since.failed) * kPerMs / took_ms;
    if (const auto p99_us = since.QuantileUs(99)) rates.values["http.p99_us"] = *p99_us;
  }
  last_ = traffic;
  last_boot_ms_ = boot_ms;
  return rates;
}

BeatReply Overview::Beat(bool leaves) {
  BeatRequest request{.own = {.instance = parts_.process,
                              .version = parts_.version,
                              .host = HostOf(parts_.process),
                              .started_ms = started_ms_,
                              .workers = parts_.workers,
                              .requests_per_1000s = requests_per_1000s_,
                              .clock_gap_ms = parts_.clock.WallMs(),
                              .lanes = static_cast<std::int64_t>(parts_.store.AllLanes().size())},
                      .leaves = leaves};
  const auto promise = std::make_shared<std::promise<db::Result<BeatReply>>>();
  auto future = promise->get_future();
  beat_(std::move(request),
        [promise](db::Result<BeatReply> result) { promise->set_value(std::move(result)); });
  if (leaves && future.wait_for(kGoodByeTime) != std::future_status::ready)
    throw base::Fault(base::FaultKind::kStopping, "the store does not take a good-bye");
  db::Result<BeatReply> result = future.get();
  if (!result.ok()) throw result.fault();
  return std::move(result.value());
}

void Overview::Look() {
  const std::int64_t now_ms = parts_.clock.WallMs();
  const Rates rates = RatesSince(parts_.traffic(), parts_.clock.BootMs());
  requests_per_1000s_ = rates.requests_per_1000s;
  Series::Values values = rates.values;
  Board board{.counted_ms = now_ms, .concerns = parts_.concerns()};
  for (const auto& [part, glance_of] : parts_.glances) {
    explain::Glance glance = glance_of();
    for (const explain::Figure& each : glance.figures)
      values[fmt::format("{}.{}", part, each.name)] = each.value;
    if (!glance.figures.empty()) board.figures.emplace_back(part, std::move(glance.figures));
    std::ranges::move(glance.concerns, std::back_inserter(board.concerns));
  }
  series_.Note(now_ms, values);
  const auto series = [&](Series::Range range) {
    std::string text;
    base::JsonWriter json(text);
    series_.Write(json, range);
    return text;
  };
  board.hour = series(Series::Range::kHour);
  board.day = series(Series::Range::kDay);
  board.instances = Now()->instances;
  try {
    BeatReply reply = Beat(false);
    board.instances = std::move(reply.instances);
    std::ranges::move(ConcernsOf(board.instances, reply.now_ms),
                      std::back_inserter(board.concerns));
  } catch (const base::Fault&) {
    Show(std::move(board));
    throw;
  }
  Show(std::move(board));
}

void Overview::Leave() {
  try {
    Beat(true);
  } catch (const base::Fault&) {
    // The others miss it for an hour: that is what a process is told of that left without a word.
  }
}

void Overview::Show(Board board) {
  auto shown = std::make_shared<const Board>(std::move(board));
  const base::Lock lock(mutex_);
  board_ = std::move(shown);
}

std::shared_ptr<const Board> Overview::Now() const {
  const base::Lock lock(mutex_);
  return board_;
}

}  // namespace tenure::overview
