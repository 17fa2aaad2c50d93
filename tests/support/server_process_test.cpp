#include "support/server_process.hpp"

#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::support {
namespace {

/// A program that behaves like `tenure serve` as far as ServerProcess looks at it.
std::filesystem::path Script(const TempDir& dir, const std::string& body) {
  auto path = dir / "program";
  std::ofstream(path) << "#!/bin/bash\n" << body;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(ServerProcess, KnowsThePortFromTheStartText) {
  const TempDir dir;
  ServerProcess server({.store_url = "postgresql://somewhere/db",
                        .flags = {"--workers", "off"},
                        .environment = {{"TENURE_X", "y"}},
                        .binary = Script(dir,
                                         "echo args $* env $TENURE_X\n"
                                         "echo '  Tenure listens on http://127.0.0.1:4711'\n"
                                         "exec tail -f /dev/null\n")});
  EXPECT_EQ(server.Port(), 4711);
  EXPECT_EQ(server.Url(), "http://127.0.0.1:4711");
  EXPECT_THAT(server.Output(), testing::HasSubstr("args serve --listen 127.0.0.1:0 --store "
                                                  "postgresql://somewhere/db --workers off env y"));
  server.Pause();
  server.Resume();
  EXPECT_TRUE(server.IsRunning());
  EXPECT_EQ(server.Terminate(), 128 + SIGTERM);
  EXPECT_FALSE(server.IsRunning());
}

TEST(ServerProcess, OneThatDoesNotStartIsAnErrorWithItsOutput) {
  const TempDir dir;
  const auto binary = Script(dir, "echo 'port is taken' >&2; exit 1\n");
  try {
    const ServerProcess server({.data_dir = dir.path(), .binary = binary});
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("port is taken"));
  }
}

}  // namespace
}  // namespace tenure::support
