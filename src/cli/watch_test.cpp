#include "cli/watch.hpp"

#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace tenure::cli {
namespace {

TEST(Changes, AgesAndCountdownsAreNoChange) {
  EXPECT_EQ(Lasting("nightly  held    9s  3m 10s ago"), Lasting("nightly  held  10s  1h 0m ago"));
  EXPECT_EQ(Lasting("renewed 3 s ago, since 14 min"), Lasting("renewed 12 s ago, since 2 min"));
  for (const auto& [one, other] :
       {std::pair("fence 41", "fence 42"), std::pair("a  held", "a  free"),
        std::pair("vm-12s", "vm-13s"), std::pair("x 3 done", "x 4 done")})
    EXPECT_NE(Lasting(one), Lasting(other)) << one;
}

TEST(Changes, PrintsWhatIsNewWhatChangedAndWhatIsGone) {
  Changes changes;
  EXPECT_EQ(changes.Of("LEASE  STATE\na  held  9s\nb  free  -\n"),
            "LEASE  STATE\na  held  9s\nb  free  -\n");
  EXPECT_EQ(changes.Of("LEASE  STATE\na  held  8s\nb  free  -\n"), "");
  EXPECT_EQ(changes.Of("LEASE  STATE\na  broken  7s\nc  held  30s\n"),
            "a  broken  7s\nc  held  30s\n- b  free  -\n");
}

TEST(Changes, OfADocumentItsClockIsNone) {
  EXPECT_EQ(LastingJson(R"({"a":1,"now":"2026-01-01T00:00:00.000Z","oldest_age_ms":12,"z":[]})"),
            R"({"a":1,,,"z":[]})");
  EXPECT_EQ(LastingJson(R"({"text":"\"now\":1","now":3})"), R"({"text":"\"now\":1",})");
  EXPECT_EQ(LastingJson(R"({"now)"), R"({"now)");
}

TEST(Watch, ASmallScreenGetsWhatFitsIt) {
  EXPECT_EQ(CutToFit("0123456789abcdef\näöü\nthird\n", {.columns = 10, .rows = 3}),
            "0123456789\näöü\n");
  EXPECT_EQ(CutToFit("0123456789abcdefghijkl\n2\n3\n4\n5\n6\n", {.columns = 20, .rows = 5}),
            "0123456789abcdefghij\n2\n3\n4\n");
  EXPECT_EQ(CutToFit("ä", {.columns = 1, .rows = 1}), "");
}

/// Watches texts one after the other, the last of which ends it, and returns all that it printed.
struct Watched {
  int exit = 0;
  std::string out{};
  std::string err{};
};
Watched WatchTexts(std::vector<std::string> texts, bool json, bool terminal = false) {
  std::ostringstream out;
  std::ostringstream err;
  Console console{.out = out, .err = err, .out_is_terminal = terminal};
  std::size_t next = 0;
  const int exit = Watch(1, json, console, [&](Console& once) {
    const std::string text = texts.at(next++);
    if (text == "away") throw base::Fault(base::FaultKind::kStoreUnavailable, "nothing answers");
    if (next == texts.size()) {
      once.err << text;
      return kExitNotFound;
    }
    once.out << text;
    return kExitDone;
  });
  return {exit, out.str(), err.str()};
}

TEST(Watch, WithoutATerminalItPrintsChangesUntilTheThingIsGone) {
  const Watched seen = WatchTexts({"a held\n", "a held\n", "a free\n", "it is gone\n"}, false);
  EXPECT_EQ(seen.exit, kExitNotFound);
  EXPECT_EQ(seen.out, "a held\na free\n");
  EXPECT_EQ(seen.err, "it is gone\n");
}

TEST(Watch, OfJsonItPrintsADocumentPerChange) {
  EXPECT_EQ(
      WatchTexts({R"({"a":1,"now":1})", R"({"a":1,"now":2})", R"({"a":2,"now":3})", "end"}, true)
          .out,
      R"({"a":1,"now":1}{"a":2,"now":3})");
}

TEST(Watch, AServerThatIsAwayForAWhileIsWaitedForAndToldOfOnce) {
  const Watched seen = WatchTexts({"a held\n", "away", "away", "a free\n", "end"}, false);
  EXPECT_EQ(seen.out, "a held\na free\n");
  EXPECT_EQ(seen.err, "tenure: nothing answers\nend");
  EXPECT_THROW(WatchTexts({"away", "end"}, false), base::Fault) << "of the first look it is told";
}

TEST(Watch, OnATerminalEachLookIsDrawnOverTheOneBefore) {
  const char* const before = std::getenv("TERM");
  const std::string terminal = before == nullptr ? "" : before;
  setenv("TERM", "xterm", 1);
  EXPECT_EQ(WatchTexts({"one\n", "two\n", "end"}, false, true).out,
            "\x1b[2J\x1b[H\x1b[2Kone\n\x1b[J\x1b[H\x1b[2Ktwo\n\x1b[J");
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(WatchTexts({"one\n", "two\n", "end"}, false, true).out, "one\ntwo\n- one\n");
  terminal.empty() ? unsetenv("TERM") : setenv("TERM", terminal.c_str(), 1);
}

}  // namespace
}  // namespace tenure::cli
