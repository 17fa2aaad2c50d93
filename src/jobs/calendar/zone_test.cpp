#include "jobs/calendar/zone.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/calendar/test_schedule.hpp"

namespace tenure::jobs::calendar {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(Zones, AreFoundByTheirIanaNamesAlone) {
  for (const char* name :
       {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "US/Pacific", "GB"})
    EXPECT_TRUE(SystemZones().Find(name)) << name;
  for (const char* name : {"", "europe/berlin", "Europe", "Europe/Berlin/", "../localtime",
                           "localtime", "right/UTC", "/etc/passwd", "CEST", "tzdata.zi"})
    EXPECT_FALSE(SystemZones().Find(name)) << name;
}

TEST(Zones, AnUnknownNameHasItsNearest) {
  EXPECT_EQ(SystemZones().Nearest("europe/berlin").front(), "Europe/Berlin");
  EXPECT_EQ(SystemZones().Nearest("Berlin").front(), "Europe/Berlin");
  EXPECT_EQ(SystemZones().Nearest("America/New York").front(), "America/New_York");
  EXPECT_EQ(SystemZones().Nearest("Europe/Lodnon").front(), "Europe/London");
  EXPECT_EQ(SystemZones().Nearest(std::string(10'000, 'x'), 3).size(), 3u);
}

TEST(Zones, SayWhichTzdataTheyAre) {
  EXPECT_THAT(SystemZones().version(), testing::MatchesRegex("20[0-9][0-9][a-z]+"));
  EXPECT_EQ(Zones("/nowhere").version(), "unknown");
  EXPECT_TRUE(Zones("/nowhere").Find("UTC"));
  EXPECT_FALSE(Zones("/nowhere").Find("Europe/Berlin"));
}

TEST(Zones, ANewerTzdataIsReadByANewObject) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::temp_directory_path() / ("tenure-zones-" + std::to_string(::getpid()));
  fs::create_directories(folder / "Europe");
  const auto put = [&](const char* version, const char* zone) {
    std::ofstream(folder / "tzdata.zi") << "# version " << version << "\nZ Europe/Berlin 1 - CET\n";
    fs::copy_file(fs::path(Zones::SystemFolder()) / zone, folder / "Europe/Berlin",
                  fs::copy_options::overwrite_existing);
  };
  put("2026a", "Europe/Berlin");
  const Zones before(folder.string());
  EXPECT_EQ(before.Find("Europe/Berlin")->Offset(Ms("2026-07-01T00:00:00Z")), "+02:00");
  put("2026b", "Asia/Tokyo");
  EXPECT_EQ(before.version(), "2026a");
  EXPECT_EQ(before.VersionNow(), "2026b");
  EXPECT_EQ(before.Find("Europe/Berlin")->Offset(Ms("2026-07-01T00:00:00Z")), "+02:00");
  const Zones after(folder.string());
  EXPECT_EQ(after.version(), "2026b");
  EXPECT_EQ(after.Find("Europe/Berlin")->Offset(Ms("2026-07-01T00:00:00Z")), "+09:00");
  fs::remove_all(folder);
}

TEST(Zones, PrintWallClocks) {
  const Zone berlin = *SystemZones().Find("Europe/Berlin");
  EXPECT_EQ(berlin.LocalTime(Ms("2026-03-29T00:59:59Z")), "2026-03-29T01:59:59");
  EXPECT_EQ(berlin.LocalTime(Ms("2026-03-29T01:00:00.250Z")), "2026-03-29T03:00:00.250");
  EXPECT_EQ(berlin.Offset(Ms("2099-07-01T00:00:00Z")), "+02:00");
  EXPECT_EQ(SystemZones().Find("America/St_Johns")->Offset(Ms("2026-01-01T00:00:00Z")), "-03:30");
  EXPECT_EQ(SystemZones().Find("Africa/Monrovia")->Offset(Ms("1970-06-01T00:00:00Z")), "-00:44:30");
}

}  // namespace
}  // namespace tenure::jobs::calendar
