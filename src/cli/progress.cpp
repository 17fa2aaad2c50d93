#include "cli/progress.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::cli {
namespace {

constexpr std::int64_t kRedrawMs = 200;
constexpr std::int64_t kLineMs = 10'000;
constexpr std::int64_t kBarColumns = 20;

}  // namespace

Progress::Progress(Console& console, std::string_view unit, std::optional<std::int64_t> total,
                   const base::Clock& clock)
    : console_(console),
      unit_(unit),
      total_(total),
      clock_(clock),
      began_ms_(clock.BootMs()),
      said_ms_(began_ms_) {}

std::string Progress::Line(std::int64_t done, std::int64_t now_ms) const {
  const std::int64_t took_ms = std::max<std::int64_t>(now_ms - began_ms_, 1);
  const std::int64_t rate = done * 1'000 / took_ms;
  if (!total_ || *total_ <= 0) return fmt::format("{} {}, {}/s", done, unit_, rate);
  const std::int64_t part = std::min(done * kBarColumns / *total_, kBarColumns);
  const std::string left =
      done == 0 ? "" : fmt::format(", {} left", base::SpanText((*total_ - done) * took_ms / done));
  return fmt::format("[{:#<{}}{:.<{}}] {} of {} {}, {}/s{}", "", part, "", kBarColumns - part, done,
                     *total_, unit_, rate, left);
}

void Progress::At(std::int64_t done) {
  if (console_.quiet) return;
  const std::int64_t now_ms = clock_.BootMs();
  if (now_ms - said_ms_ < (console_.err_is_terminal ? kRedrawMs : kLineMs)) return;
  said_ms_ = now_ms;
  is_shown_ = console_.err_is_terminal;
  console_.err << (is_shown_ ? "\r\x1b[K" : "") << Line(done, now_ms) << (is_shown_ ? "" : "\n");
  console_.err.flush();
}

void Progress::End() {
  if (is_shown_) console_.err << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

}  // namespace tenure::cli
