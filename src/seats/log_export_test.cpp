#include "seats/log_export.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "seats/test_log.hpp"

namespace tenure::seats {
namespace {

using test::WrittenLog;

std::string ExportOf(WrittenLog& log) {
  log.Seal();
  std::string text;
  AppendExportLine(text, ExportedLicense{.license = log.license, .head = log.Head()});
  for (const LogEntry& entry : log.entries) AppendExportLine(text, entry);
  return text;
}

std::string ReadError(const std::string& text) {
  std::istringstream in(text);
  ExportReader reader(in);
  try {
    while (reader.Next()) continue;
  } catch (const base::UserError& error) {
    return error.what();
  }
  return {};
}

WrittenLog SmallLog() {
  WrittenLog log;
  log.Created(100, 2);
  log.Acquired(200, 1, 11, R"({"machine":"a \"quoted\" näme","metadata":{"x":1.0e0,"y":[]}})");
  log.Released(300, 1, 11);
  return log;
}

TEST(LogExport, WhatWasWrittenIsReadBackByteByByte) {
  WrittenLog log = SmallLog();
  std::istringstream in(ExportOf(log));
  ExportReader reader(in);
  const auto license = reader.Next();
  ASSERT_TRUE(license);
  EXPECT_EQ(std::get<ExportedLicense>(*license).license, log.license);
  EXPECT_EQ(std::get<ExportedLicense>(*license).head.seq, 3);
  EXPECT_EQ(std::get<ExportedLicense>(*license).head.hash, log.Head().hash);
  for (const LogEntry& entry : log.entries) {
    const auto line = reader.Next();
    ASSERT_TRUE(line);
    EXPECT_EQ(std::get<LogEntry>(*line), entry);
  }
  EXPECT_FALSE(reader.Next());
}

TEST(LogExport, ALineBreakAtTheEndMayBeMissing) {
  WrittenLog log = SmallLog();
  std::string text = ExportOf(log);
  text.pop_back();
  EXPECT_EQ(ReadError(text), "");
  EXPECT_EQ(ReadError(""), "");
}

/// The offsets are part of the format: a verifier may cut the hashed text out of the line.
TEST(LogExport, TheHashedTextStandsAtAFixedPlace) {
  WrittenLog log = SmallLog();
  log.Seal();
  std::string line;
  AppendExportLine(line, log.entries[1]);
  EXPECT_EQ(line.substr(9, 64), HexOf(log.entries[1].hash));
  EXPECT_EQ(line.substr(83, line.size() - 85), CanonicalText(log.entries[1]));
}

TEST(LogExport, ALineThatIsSomethingElseIsRefusedByItsNumber) {
  WrittenLog log = SmallLog();
  const std::string good = ExportOf(log);
  const std::string id = log.license.ToString();
  const std::string hash(64, '0');
  const std::string wrong[] = {
      "x",
      "",
      "[]",
      "{}",
      "null",
      "{\"license_id\":\"" + id + "\"}",
      "{\"license_id\":5,\"entries\":1,\"head\":\"" + hash + "\"}",
      "{\"license_id\":\"" + id + "\",\"entries\":1.5,\"head\":\"" + hash + "\"}",
      "{\"license_id\":\"" + id + "\",\"entries\":1,\"head\":\"00\"}",
      "{\"hash\":\"" + hash + "\"}",
      "{\"hash\":\"" + hash + "\",\"entry\":[]}",
      "{\"hash\":\"" + hash + "\",\"entry\":{}}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1,2,\"K\",null,null,null]}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1,2,\"K\",null,null,null,[]]}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1,2,\"K\",null,null,null,{},0]}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1,2,\"K\",\"x\",null,null,{}]}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1,2,\"K\",null,\"1\",null,{}]}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1e3,2,\"K\",null,null,null,{}]}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1,2,\"K\",null,null,null,{}]} {}",
      "{\"hash\":\"" + hash + "\",\"entry\":[\"" + id + "\",1,2,\"\xff\",null,null,null,{}]}",
  };
  for (const std::string& line : wrong) {
    const std::string error = ReadError(good + line + "\n");
    EXPECT_EQ(error.find("line 5 "), 0u) << line << "\n" << error;
  }
}

TEST(LogExport, ALineWithoutAnEndIsGivenUp) {
  const std::string error = ReadError("{\"license_id\":\"" + std::string(40 << 20, 'x'));
  EXPECT_NE(error.find("too long"), std::string::npos) << error;
}

TEST(LogExport, AnEntryOfAnArrayAlone) {
  WrittenLog log = SmallLog();
  LogEntry entry = log.entries[1];
  const auto read = ParseEntryText(CanonicalText(entry));
  ASSERT_TRUE(read);
  entry.hash = {};
  EXPECT_EQ(*read, entry);
  EXPECT_FALSE(ParseEntryText("[1]"));
}

}  // namespace
}  // namespace tenure::seats
