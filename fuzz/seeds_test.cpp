// Runs each fuzz target once on each of its seeds, which are inputs that broke something or nearly did. A target that
// finds a bug aborts the program.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#define TARGET(name) extern "C" int try_##name(const unsigned char* data, std::size_t size);
#include "targets.inc"
#undef TARGET

namespace proteus {
namespace {

struct Target {
  const char* name;
  int (*run)(const unsigned char* data, std::size_t size);
};

const Target kTargets[] = {
#define TARGET(name) {#name, try_##name},
#include "targets.inc"
#undef TARGET
};

class Seeds : public ::testing::TestWithParam<Target> {};

TEST_P(Seeds, BreakNothing) {
  std::size_t tried = 0;
  const std::string folder = PROTEUS_SOURCE_DIR "/fuzz/corpus/" + std::string(GetParam().name);
  for (const auto& seed : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(seed.path().string());
    std::ifstream file(seed.path(), std::ios::binary);
    const std::string input(std::istreambuf_iterator<char>(file), {});
    GetParam().run(reinterpret_cast<const unsigned char*>(input.data()), input.size());
    ++tried;
  }
  EXPECT_GT(tried, 0U) << "a target without seeds";
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Seeds, ::testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace proteus
