#pragma once

#include <streambuf>
#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "cli/flags.hpp"

namespace tenure::cli {

/// How text for people is to look.
struct Look {
  bool colour = false;
  bool local = false;  ///< times in this machine's zone, not in UTC
};

/// The flags of it: --color, --utc, --local, --quiet.
Flags LookFlags();

/// What the flags, NO_COLOR and the terminal make of it. Throws UsageError for what does not go
/// together.
Look LookOf(const Given& given, const Console& console);

/// Whether lines can be written over one another: a terminal that is not as dumb as TERM may say.
bool CanDraw(const Console& console);

/// A line (without its end) with times as `2026-01-31 13:00:00+0100` in this machine's zone: as wide
/// as the time in UTC was, so that columns stay below one another.
std::string InLocalTime(std::string_view line);

/// A line with its states in their colours, and with a heading of a table in bold. A cell is what
/// has two blanks, or an end of the line, on either side; the first is a name or a label.
std::string Painted(std::string_view line);

/// Passes lines on to another buffer as a look wants them. What has no line's end yet waits for it,
/// at the latest for a flush.
class LookBuffer : public std::streambuf {
 public:
  /// `to` must outlive it.
  LookBuffer(std::streambuf& to, Look look) : to_(to), look_(look) {}
  ~LookBuffer() override { Pass(); }

  bool failed() const { return failed_; }  ///< something could not be passed on

 protected:
  int overflow(int character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void Pass();

  std::streambuf& to_;
  const Look look_;
  std::string line_;
  bool failed_ = false;
};

}  // namespace tenure::cli
