#include "support/temp_dir.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace tenure::support {
namespace {

TEST(TempDir, IsRemovedWithEverythingInIt) {
  std::filesystem::path path;
  {
    const TempDir dir;
    path = dir.path();
    std::filesystem::create_directories(dir / "a/b");
    std::ofstream(dir / "a/b/file") << "text";
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TempDir, OnlyTheOwnerLooksIntoItUntilReadingIsAllowed) {
  TempDir dir;
  struct stat status {};
  ASSERT_EQ(stat(dir.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  dir.AllowReading();
  ASSERT_EQ(stat(dir.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0755U);
}

/// Points TMPDIR elsewhere for one test.
class TempRootAt {
 public:
  explicit TempRootAt(const std::filesystem::path& root) {
    if (const char* old = std::getenv("TMPDIR"); old != nullptr) old_ = old;
    setenv("TMPDIR", root.c_str(), 1);
  }
  ~TempRootAt() {
    if (old_)
      setenv("TMPDIR", old_->c_str(), 1);
    else
      unsetenv("TMPDIR");
  }
  TempRootAt(const TempRootAt&) = delete;
  TempRootAt& operator=(const TempRootAt&) = delete;

 private:
  std::optional<std::string> old_;
};

TEST(TempDir, WhatAKilledProgramLeftIsSweptAndWhatIsInUseIsNot) {
  const TempDir root;
  const TempRootAt here(root.path());
  const TempDir in_use;
  ASSERT_EQ(in_use.path().parent_path(), root.path());
  std::filesystem::create_directories(root / "tenure-test-left/data");
  std::filesystem::create_directories(root / "another");

  RemoveAbandonedTempDirs(root.path());
  EXPECT_TRUE(std::filesystem::exists(root / "tenure-test-left")) << "too young to be swept";
  RemoveAbandonedTempDirs(root.path(), /*least_age_s=*/0);
  EXPECT_FALSE(std::filesystem::exists(root / "tenure-test-left"));
  EXPECT_TRUE(std::filesystem::exists(root / "another"));
  EXPECT_TRUE(std::filesystem::exists(in_use.path()));
}

}  // namespace
}  // namespace tenure::support
