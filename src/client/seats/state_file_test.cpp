#include "client/seats/state_file.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "client/seats/fork_guard.hpp"
#include "client/seats/machine_id.hpp"
#include "support/temp_dir.hpp"
#include "tenure/seats/errors.hpp"

namespace tenure::client {
namespace {

using seats::MachineScope;
using seats::SeatOptions;
using seats::StateFileError;

class SeatStateFile : public ::testing::Test {
 protected:
  std::string Path(std::string_view name) const { return dir_ / name; }
  std::string Written(std::string_view name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }

 private:
  const support::TempDir dir_;
};

TEST_F(SeatStateFile, WhatWasWrittenIsThereForTheNextOne) {
  {
    StateFile file(Path("state"));
    EXPECT_EQ(file.memory().session_id, "");
    file.Write({.machine_id = "m", .session_id = "s-1"});
    file.Write({.machine_id = "m", .session_id = "s-2"});
  }
  const StateFile next(Path("state"));
  EXPECT_EQ(next.memory().machine_id, "m");
  EXPECT_EQ(next.memory().session_id, "s-2");
}

TEST_F(SeatStateFile, ItIsItsOwnersAlone) {
  StateFile file(Path("state"));
  file.Write({.machine_id = "m"});
  for (const char* const name : {"state", "state.lock"}) {
    struct stat seen {};
    ASSERT_EQ(stat(Path(name).c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777, 0600u) << name;
  }
}

TEST_F(SeatStateFile, ASecondHolderIsRefusedWhileTheFirstOneLives) {
  {
    const StateFile file(Path("state"));
    EXPECT_THROW(StateFile(Path("state")), StateFileError);
  }
  EXPECT_NO_THROW(StateFile(Path("state")));
}

/// A lock lives on in every process that has its descriptor: the child must not keep it.
TEST_F(SeatStateFile, AChildDoesNotKeepItsParentsLock) {
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  auto file = std::make_unique<StateFile>(Path("state"));
  const std::uint64_t generation = ForkGeneration();
  const pid_t child = fork();
  if (child == 0) {
    char byte = ForkGeneration() == generation + 1 ? 'y' : 'n';
    if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(ForkGeneration(), generation);
  EXPECT_THROW(StateFile(Path("state")), StateFileError) << "the parent has it still";
  file.reset();
  EXPECT_NO_THROW(StateFile(Path("state"))) << "the child lives, and does not have it";
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

TEST_F(SeatStateFile, AFileThatIsSomethingElseSaysNothing) {
  for (const char* const text : {"", "x", "[]", "{\"machine_id\":5}", "{\"machine_id\":"}) {
    const StateFile file(Written("state", text));
    EXPECT_EQ(file.memory().machine_id, "") << text;
  }
  EXPECT_THROW(StateFile(Written("state", std::string(10'000, ' '))), StateFileError);
  EXPECT_THROW(StateFile("/nowhere/at/all"), StateFileError);
}

TEST_F(SeatStateFile, ALeftoverOfACrashIsInNobodysWay) {
  Written("state.new", "half of");
  StateFile file(Path("state"));
  file.Write({.machine_id = "m"});
  std::ostringstream text;
  text << std::ifstream(Path("state")).rdbuf();
  EXPECT_EQ(text.str(), "{\"machine_id\":\"m\",\"session_id\":\"\"}\n");
}

// ---- machine ids

class SeatMachineId : public SeatStateFile {
 protected:
  MachineFiles Files(const std::string& machine, const std::string& boot = "boot-1\n") const {
    return {.machine_id = Written("machine-id", machine),
            .older_machine_id = Path("none"),
            .boot_id = Written("boot-id", boot)};
  }
};

TEST_F(SeatMachineId, OneThatIsGivenIsTaken) {
  EXPECT_EQ(ChooseMachineId({.machine_id = "rack 7"}, "other", Files("abc\n")), "rack 7");
  EXPECT_EQ(ChooseMachineId({.machine_id = "rack 7", .instance = "2"}, "", Files("abc\n")),
            "rack 7/2");
}

TEST_F(SeatMachineId, ItIsDerivedFromTheMachineAndTheApplication) {
  const std::string one = ChooseMachineId({.application = "cad"}, "", Files("abc\n"));
  EXPECT_EQ(one.size(), 32u);
  EXPECT_EQ(one.find("abc"), std::string::npos);
  EXPECT_EQ(ChooseMachineId({.application = "cad"}, "remembered", Files("abc\n")), one);
  EXPECT_NE(ChooseMachineId({.application = "sim"}, "", Files("abc\n")), one);
  EXPECT_NE(ChooseMachineId({.application = "cad"}, "", Files("abd\n")), one);
}

TEST_F(SeatMachineId, PerBootItChangesWithTheBoot) {
  const SeatOptions options{.machine_scope = MachineScope::kBoot};
  const std::string one = ChooseMachineId(options, "", Files("abc\n", "boot-1\n"));
  EXPECT_EQ(ChooseMachineId(options, "", Files("abc\n", "boot-1\n")), one);
  EXPECT_NE(ChooseMachineId(options, "", Files("abc\n", "boot-2\n")), one);
}

TEST_F(SeatMachineId, PerProcessItIsNewEachTime) {
  const SeatOptions options{.machine_scope = MachineScope::kProcess};
  EXPECT_NE(ChooseMachineId(options, "remembered", Files("abc\n")),
            ChooseMachineId(options, "remembered", Files("abc\n")));
}

TEST_F(SeatMachineId, AMachineWithoutOneRemembersARandomOne) {
  for (const char* const none : {"", "uninitialized\n"}) {
    const std::string one = ChooseMachineId({.instance = "a"}, "", Files(none));
    EXPECT_EQ(one.size(), 34u);
    EXPECT_EQ(ChooseMachineId({.instance = "a"}, one, Files(none)), one);
    EXPECT_NE(ChooseMachineId({.instance = "a"}, "", Files(none)), one);
  }
}

TEST_F(SeatMachineId, OneThatNoServerWouldTakeIsRefused) {
  for (const std::string& id : {std::string(256, 'x'), std::string("a\nb"), std::string("\xff")})
    EXPECT_THROW(ChooseMachineId({.machine_id = id}, "", {}), std::invalid_argument);
}

}  // namespace
}  // namespace tenure::client
