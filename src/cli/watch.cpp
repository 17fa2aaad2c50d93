#include "cli/watch.hpp"

#include <poll.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/look.hpp"
#include "config/printable.hpp"

namespace tenure::cli {
namespace {

constexpr std::int64_t kLeastMs = 100;
constexpr std::int64_t kDayMs = 86'400'000;

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// How long the span is that `text` begins with, "10s" or "14 min"; 0: it does not.
std::size_t SpanLength(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  if (end == 0) return 0;
  if (end < text.size() && text[end] == ' ') ++end;
  for (const std::string_view unit : {"ms", "min", "d", "h", "m", "s"}) {
    const std::size_t behind = end + unit.size();
    if (text.substr(end).starts_with(unit) && (behind == text.size() || !IsAlnum(text[behind])))
      return behind;
  }
  return 0;
}

/// Whether a member of that name changes while nothing happens.
bool Passes(std::string_view name) {
  return name == "now" || name == "counted_at" || name.ends_with("age_ms");
}

/// Where the value that begins at `begin` ends: a string, a number or a word.
std::size_t ValueEnd(std::string_view json, std::size_t begin) {
  if (begin < json.size() && json[begin] == '"') {
    const std::size_t end = json.find('"', begin + 1);
    return end == std::string_view::npos ? json.size() : end + 1;
  }
  return std::min(json.find_first_of(",}]", begin), json.size());
}

void Draw(const std::string& text, bool first, Console& console) {
  // Each line is cleared before it is written, and what is left below the last one.
  console.out << (first ? "\x1b[2J\x1b[H" : "\x1b[H");
  std::istringstream lines(CutToFit(text, console.screen()));
  for (std::string line; std::getline(lines, line);) console.out << "\x1b[2K" << line << "\n";
  console.out << "\x1b[J";
}

/// Waits; false when nobody reads the output any more.
bool Wait(std::int64_t ms, const Console& console) {
  pollfd reader{.fd = console.out_fd, .events = 0, .revents = 0};
  const int ready = poll(&reader, console.out_fd < 0 ? 0 : 1, static_cast<int>(ms));
  return ready <= 0 || (reader.revents & (POLLERR | POLLNVAL)) == 0;
}

}  // namespace

Flag WatchFlag() {
  Flag flag = Value("--watch", "2s", "Look again and again, each time after so long.",
                    Duration({kLeastMs, kDayMs}));
  flag.kind = Flag::Kind::kMaybe;
  return flag;
}

std::string Lasting(std::string_view line) {
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '(';
    if (const std::size_t span = begins ? SpanLength(line.substr(at)) : 0; span > 0) {
      // "4m 10s" is one span, as "10s" is.
      if (!text.ends_with("#") && !text.ends_with("# ")) text += '#';
      at += span;
    } else if (line[at] == ' ' && text.ends_with(' ')) {
      ++at;
    } else {
      text += line[at++];
    }
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string LastingJson(std::string_view json) {
  std::string text;
  for (std::size_t at = 0; at < json.size();) {
    const bool is_name = json[at] == '"' && at > 0 && (json[at - 1] == ',' || json[at - 1] == '{');
    const std::size_t end = is_name ? json.find('"', at + 1) : std::string_view::npos;
    if (end == std::string_view::npos || json.substr(end).substr(0, 2) != "\":" ||
        !Passes(json.substr(at + 1, end - at - 1))) {
      text += json[at++];
      continue;
    }
    at = ValueEnd(json, end + 2);
  }
  return text;
}

std::vector<Changes::Line> Changes::LinesOf(std::string_view output) {
  std::vector<Line> lines;
  std::istringstream in{std::string(output)};
  for (std::string text; std::getline(in, text);)
    lines.push_back({text, Lasting(text), text.substr(0, text.find(' '))});
  return lines;
}

std::string Changes::Of(std::string_view output) {
  std::vector<Line> now = LinesOf(output);
  std::string changed;
  for (const Line& line : now)
    if (std::ranges::find(before_, line.lasting, &Line::lasting) == before_.end())
      changed += line.text + "\n";
  for (const Line& line : before_)
    if (std::ranges::find(now, line.subject, &Line::subject) == now.end())
      changed += "- " + line.text + "\n";
  before_ = std::move(now);
  return changed;
}

std::string CutToFit(std::string_view text, const Screen& screen) {
  std::string fitting;
  std::istringstream lines{std::string(text)};
  std::size_t rows = 0;
  for (std::string line; rows + 1 < screen.rows && std::getline(lines, line); ++rows) {
    std::size_t end = 0;
    for (std::size_t columns = 0; end < line.size(); ++end) {
      const bool is_next = (static_cast<unsigned char>(line[end]) & 0xC0U) != 0x80U;
      if (is_next && columns++ == screen.columns) break;
    }
    fitting += line.substr(0, end) + "\n";
  }
  return fitting;
}

int Watch(std::int64_t every_ms, bool json, Console& console,
          const std::function<int(Console&)>& once) {
  Changes changes;
  std::string last_document;
  bool first = true;
  bool is_away = false;
  while (true) {
    std::ostringstream out;
    std::ostringstream err;
    Console look{.out = out,
                 .err = err,
                 .out_is_terminal = console.out_is_terminal,
                 .measure = console.measure,
                 .quiet = console.quiet};
    int exit = kExitUnavailable;
    try {
      exit = once(look);
    } catch (const base::Fault& fault) {
      if (first || !fault.retryable()) throw;
      err << fmt::format("tenure: {}\n", fault.what());
    }
    if (exit == kExitUnavailable && !first) {
      if (!std::exchange(is_away, true)) console.err << err.str();
    } else if (exit != kExitDone && exit != kExitAttention) {
      console.err << err.str();
      return exit;
    } else {
      is_away = false;
      if (json) {
        const std::string document = LastingJson(out.str());
        if (std::exchange(last_document, document) != document) console.out << out.str();
      } else if (CanDraw(console)) {
        Draw(out.str().empty() ? err.str() : out.str(), first, console);
      } else {
        console.out << changes.Of(out.str());
      }
    }
    first = false;
    if (!console.out.flush() || !Wait(every_ms, console)) return kExitDone;
  }
}

}  // namespace tenure::cli
