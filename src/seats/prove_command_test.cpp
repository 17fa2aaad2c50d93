#include "seats/prove_command.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "seats/test_log.hpp"
#include "support/temp_dir.hpp"

namespace tenure::seats {
namespace {

using test::WrittenLog;

struct Ran {
  int code = -1;
  std::string out;
};

/// `tenure seat prove` with these arguments.
Ran RunProve(std::vector<std::string> arguments) {
  for (const cli::Command& command : LogCommands({})) {
    if (command.words != "seat prove") continue;
    std::ostringstream out;
    std::ostringstream err;
    cli::Console console{out, err};
    const auto given = cli::ParseFlags(command.flags, std::move(arguments));
    const int code = command.run(*given, console);
    return {code, out.str() + err.str()};
  }
  return {};
}

class ProveCommand : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = dir_.path() / name;
    std::ofstream(path) << text;
    return path;
  }

  WrittenLog Log() const {
    WrittenLog log;
    log.Created(1'766'311'200'000, 2);
    log.Acquired(1'766'311'201'000, 1, 11);
    log.Acquired(1'766'311'202'000, 2, 12);
    log.Released(1'766'311'203'000, 1, 11);
    log.Seal();
    return log;
  }

  std::string ExportOf(const WrittenLog& log) const {
    std::string text;
    AppendExportLine(text, ExportedLicense{.license = log.license, .head = log.Head()});
    for (const LogEntry& entry : log.entries) AppendExportLine(text, entry);
    return text;
  }

 private:
  const support::TempDir dir_;
};

TEST_F(ProveCommand, AnExportIsProvenWithoutAServer) {
  const Ran ran = RunProve({"--file", Write("log", ExportOf(Log()))});
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find("highest    2 at once, 2025-12-21T10:00:02.000Z (entry 3)"),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("proven     yes"), std::string::npos) << ran.out;
}

TEST_F(ProveCommand, AnExportThatWasTamperedWithExitsWithFour) {
  std::string text = ExportOf(Log());
  text.replace(text.find("1766311202000"), 13, "1766311202001");
  const Ran ran = RunProve({"--file", Write("log", text)});
  EXPECT_EQ(ran.code, 4) << ran.out;
  EXPECT_NE(ran.out.find("entry 3: was changed"), std::string::npos) << ran.out;
}

TEST_F(ProveCommand, WhatJsonPrintsHoldsALaterLogToIt) {
  WrittenLog log = Log();
  const Ran before = RunProve({"--json", "--file", Write("log", ExportOf(log))});
  const std::string heads = Write("heads", before.out);
  log.Acquired(1'766'311'204'000, 1, 13);
  log.Seal();
  EXPECT_EQ(RunProve({"--file", Write("log", ExportOf(log)), "--expect", heads}).code, 0);
  log.entries[1].at_ms += 1;
  log.Seal();
  const std::string rewritten = Write("log", ExportOf(log));
  EXPECT_EQ(RunProve({"--file", rewritten}).code, 0);
  const Ran ran = RunProve({"--file", rewritten, "--expect", heads});
  EXPECT_EQ(ran.code, 4);
  EXPECT_NE(ran.out.find("entry 4: has another hash than the one kept elsewhere"),
            std::string::npos)
      << ran.out;
}

TEST_F(ProveCommand, ALicenceWhoseHeadWasKeptAndThatIsGoneIsNotProven) {
  const std::string heads =
      Write("heads", RunProve({"--json", "--file", Write("log", ExportOf(Log()))}).out);
  const Ran ran = RunProve({"--file", Write("none", ""), "--expect", heads});
  EXPECT_EQ(ran.code, 4) << ran.out;
}

TEST_F(ProveCommand, OneLicenceOfAnExportCanBeNamed) {
  const WrittenLog log = Log();
  const std::string file = Write("log", ExportOf(log));
  EXPECT_EQ(RunProve({log.license.ToString(), "--file", file}).code, 0);
  EXPECT_THROW(RunProve({test::IdOf(5).ToString(), "--file", file}), base::UserError);
}

TEST_F(ProveCommand, AFileThatIsSomethingElseIsRefused) {
  EXPECT_THROW(RunProve({"--file", Write("log", "hello\n")}), base::UserError);
  EXPECT_THROW(RunProve({"--file", Write("log", ExportOf(Log()) + ExportOf(Log()))}),
               base::UserError);
  EXPECT_THROW(RunProve({"--file", "/nowhere/at/all"}), base::UserError);
}

}  // namespace
}  // namespace tenure::seats
