#include "cli/look.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <ctime>

#include "base/time_text.hpp"

namespace tenure::cli {
namespace {

// What a terminal understands as colours; each state is a word as well, so nobody needs them.
constexpr std::string_view kBad = "\x1b[31m";
constexpr std::string_view kUneasy = "\x1b[33m";
constexpr std::string_view kGood = "\x1b[32m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

struct Ink {
  std::string_view word;
  std::string_view colour;
};
constexpr std::array kInks{
    Ink{"held", kGood},        Ink{"active", kGood},     Ink{"ok", kGood},
    Ink{"done", kGood},        Ink{"enabled", kGood},    Ink{"warning", kUneasy},
    Ink{"paused", kUneasy},    Ink{"frozen", kUneasy},   Ink{"queued", kUneasy},
    Ink{"guarded", kUneasy},   Ink{"retrying", kUneasy}, Ink{"lapsed", kUneasy},
    Ink{"suspended", kUneasy}, Ink{"waiting", kUneasy},  Ink{"draining", kUneasy},
    Ink{"dead", kBad},         Ink{"failed", kBad},      Ink{"broken", kBad},
    Ink{"lost", kBad},         Ink{"refused", kBad},     Ink{"revoked", kBad},
    Ink{"unavailable", kBad},  Ink{"critical", kBad},
};

std::string_view ColourOf(std::string_view cell) {
  const auto ink = std::ranges::find(kInks, cell, &Ink::word);
  return ink == kInks.end() ? std::string_view{} : ink->colour;
}

/// Capital letters and blanks, in at least two words.
bool IsHeading(std::string_view line) {
  const auto belongs = [](char c) { return c == ' ' || (c >= 'A' && c <= 'Z'); };
  return line.find("  ") != std::string_view::npos && line.front() != ' ' &&
         std::ranges::all_of(line, belongs);
}

std::string EnvironmentText(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// How long the time is that `text` begins with, "2026-01-31T12:00:00.000Z"; 0: it does not.
std::size_t TimeLength(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= kShape.size()) return 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (kShape[i] == 'd' ? !is_digit : text[i] != kShape[i]) return 0;
  }
  std::size_t end = kShape.size();
  if (text[end] == '.')
    while (++end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) {
    }
  return end < text.size() && text[end] == 'Z' ? end + 1 : 0;
}

std::string LocalText(std::int64_t ms) {
  const std::time_t seconds = ms / 1'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S%z", &parts)};
}

}  // namespace

Flags LookFlags() {
  return {Value("--color", "auto|always|never",
                "Colours [auto: on a terminal, unless NO_COLOR or TERM=dumb says no].", Word),
          Switch("--utc", "Times in UTC, which is the default."),
          Switch("--local", "Times in this machine's zone."),
          Switch("--quiet", "No notes and no progress on standard error.")};
}

bool CanDraw(const Console& console) {
  const std::string terminal = EnvironmentText("TERM");
  return console.out_is_terminal && !terminal.empty() && terminal != "dumb";
}

Look LookOf(const Given& given, const Console& console) {
  if (given.Has("--utc") && given.Has("--local")) throw UsageError("give one of --utc and --local");
  const std::string colour = given.Or("--color", "auto");
  const bool by_itself = CanDraw(console) && EnvironmentText("NO_COLOR").empty();
  return {.colour = colour == "always" || (colour == "auto" && by_itself),
          .local = given.Has("--local")};
}

std::string InLocalTime(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t length = TimeLength(line);
    const auto ms = base::ParseUtcMs(line.substr(0, length));
    text += ms ? LocalText(*ms) : std::string(line.substr(0, 1));
    line.remove_prefix(ms ? length : 1);
  }
  return text;
}

std::string Painted(std::string_view line) {
  if (line.empty()) return {};
  if (IsHeading(line)) return std::string(kBold).append(line).append(kPlain);
  std::string text;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find("  "), line.size());
    const std::string_view cell = line.substr(0, end);
    // The first one is a name or a label, whatever it says.
    const std::string_view colour = text.empty() ? std::string_view{} : ColourOf(cell);
    text.append(colour).append(cell).append(colour.empty() ? "" : kPlain);
    const std::size_t next = std::min(line.find_first_not_of(' ', end), line.size());
    text.append(line.substr(end, next - end));
    line.remove_prefix(next);
  }
  return text;
}

void LookBuffer::Pass() {
  // What moves the cursor stands in front, and is no part of the text.
  std::size_t begin = 0;
  while (line_.compare(begin, 2, "\x1b[") == 0) {
    begin += 2;
    while (begin < line_.size() && std::isalpha(static_cast<unsigned char>(line_[begin])) == 0)
      ++begin;
    begin = std::min(begin + 1, line_.size());
  }
  std::string text = line_.substr(begin);
  if (look_.local) text = InLocalTime(text);
  if (look_.colour) text = Painted(text);
  text.insert(0, line_, 0, begin);
  const auto size = static_cast<std::streamsize>(text.size());
  if (to_.sputn(text.data(), size) != size) failed_ = true;
  line_.clear();
}

int LookBuffer::overflow(int character) {
  if (character == traits_type::eof()) return 0;
  if (character == '\n') {
    Pass();
    if (to_.sputc('\n') == traits_type::eof()) failed_ = true;
  } else {
    line_ += static_cast<char>(character);
  }
  return failed_ ? traits_type::eof() : character;
}

std::streamsize LookBuffer::xsputn(const char* text, std::streamsize size) {
  for (std::streamsize i = 0; i < size; ++i)
    if (overflow(static_cast<unsigned char>(text[i])) == traits_type::eof()) return i;
  return size;
}

int LookBuffer::sync() {
  Pass();
  return to_.pubsync() == 0 && !failed_ ? 0 : -1;
}

}  // namespace tenure::cli
