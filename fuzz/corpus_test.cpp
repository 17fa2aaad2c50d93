// Every input of corpus/ goes through its target once: what was ever found, and what a target
// starts from, stays mended without a fuzzer. `./test --long` and fuzz/run make up new ones.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "target.hpp"

#define X(name) extern "C" int Fuzz_##name(const std::uint8_t* data, std::size_t size);
TENURE_FUZZ_TARGETS
#undef X

namespace tenure::fuzz {
namespace {

struct Target {
  std::string name;
  int (*feed)(const std::uint8_t*, std::size_t);
};

const Target kTargets[] = {
#define X(name) {#name, Fuzz_##name},
    TENURE_FUZZ_TARGETS
#undef X
};

std::filesystem::path Corpus() {
  return std::filesystem::path(std::getenv("TENURE_SOURCE_DIR")) / "fuzz/corpus";
}

class FuzzCorpus : public testing::TestWithParam<Target> {};

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus, testing::ValuesIn(kTargets),
                         [](const auto& each) { return each.param.name; });

TEST_P(FuzzCorpus, KeepsWhatItsTargetDemands) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Corpus() / GetParam().name)) {
    SCOPED_TRACE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(GetParam().feed(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()),
              0);
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

TEST(FuzzTargets, EveryFolderOfTheCorpusHasOne) {
  for (const auto& folder : std::filesystem::directory_iterator(Corpus()))
    EXPECT_TRUE(std::any_of(std::begin(kTargets), std::end(kTargets), [&](const Target& target) {
      return target.name == folder.path().filename();
    })) << folder.path();
}

}  // namespace
}  // namespace tenure::fuzz
