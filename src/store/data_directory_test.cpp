#include "store/data_directory.hpp"

#include <array>
#include <csignal>

#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/pepper.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::store::test {
namespace {

using testing::HasSubstr;

unsigned mode_of(const std::filesystem::path& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 0777U : 0U;
}

class DataDirectoryTest : public testing::Test {
 protected:
  TemporaryDirectory temporary_;
  std::filesystem::path path_ = temporary_.path() / "deep" / "data";
};

// OPS-07
TEST_F(DataDirectoryTest, IsCreatedForItsOwnerAlone) {
  const mode_t mask = ::umask(0);
  const auto directory = DataDirectory::open(path_);
  ::umask(mask);
  ASSERT_TRUE(directory) << directory.error().message();
  EXPECT_EQ(directory->path(), path_);
  EXPECT_EQ(mode_of(path_), 0700U);
  EXPECT_EQ(mode_of(path_ / "lock"), 0600U);
}

// OPS-07
TEST_F(DataDirectoryTest, IsRefusedToASecondWhoIsToldTheFirst) {
  auto first = DataDirectory::open(path_);
  ASSERT_TRUE(first);
  const auto second = DataDirectory::open(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::conflict);
  EXPECT_THAT(second.error().message(), HasSubstr(path_.string()));
  EXPECT_THAT(second.error().message(), HasSubstr("process " + std::to_string(::getpid())));
  first = std::unexpected(second.error());
  EXPECT_TRUE(DataDirectory::open(path_));
}

// OPS-07
TEST_F(DataDirectoryTest, IsNotHeldByProgramsThatItsHolderStarted) {
  auto first = DataDirectory::open(path_);
  ASSERT_TRUE(first);
  std::string name = "sleep";
  std::string seconds = "60";
  std::array<char*, 3> argv = {name.data(), seconds.data(), nullptr};
  pid_t child = -1;
  // Returns once the child has become the other program.
  ASSERT_EQ(::posix_spawnp(&child, name.c_str(), nullptr, nullptr, argv.data(), environ), 0);
  first = std::unexpected(errors::cancelled("the first"));
  EXPECT_TRUE(DataDirectory::open(path_));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(DataDirectoryTest, IsRefusedWhereItIsNotSafeOrNoDirectory) {
  std::filesystem::create_directories(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0777), 0);
  const auto open_to_all = DataDirectory::open(path_);
  ASSERT_FALSE(open_to_all);
  EXPECT_THAT(open_to_all.error().message(), HasSubstr("every user may write to it"));
  const auto file = temporary_.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_THAT(DataDirectory::open(file).error().message(), HasSubstr("it is not a directory"));
  EXPECT_FALSE(DataDirectory::open(file / "below"));
  EXPECT_FALSE(DataDirectory::open(""));
}

TEST_F(DataDirectoryTest, MayBeNamedWithASlashAtItsEnd) {
  const auto directory = DataDirectory::open(path_.string() + "/");
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->file("x"), path_ / "x");
}

class PepperTest : public DataDirectoryTest {
 protected:
  DataDirectory directory_ = DataDirectory::open(path_).value();
};

// OPS-07
TEST_F(PepperTest, IsMadeOnceAndForItsOwnerAlone) {
  EXPECT_EQ(Pepper::read(path_).error().kind(), ErrorKind::not_found);
  const auto made = Pepper::read_or_create(directory_);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->value().size(), 64U);
  EXPECT_EQ(mode_of(path_ / "pepper"), 0600U);
  EXPECT_EQ(Pepper::read_or_create(directory_)->value(), made->value());
  EXPECT_EQ(Pepper::read(path_)->value(), made->value());
}

TEST_F(PepperTest, IsRefusedWhereOthersMayReadIt) {
  ASSERT_TRUE(Pepper::read_or_create(directory_));
  ASSERT_EQ(::chmod((path_ / "pepper").c_str(), 0640), 0);
  const auto refused = Pepper::read_or_create(directory_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::invalid);
  EXPECT_THAT(refused.error().message(), HasSubstr("mode 0600"));
}

TEST_F(PepperTest, IsRefusedWhereItIsEmptyOrTooLongOrNoFile) {
  const auto file = path_ / "pepper";
  for (const std::string& content : {std::string("\n"), std::string(5000, 'x')}) {
    std::ofstream(file, std::ios::trunc) << content;
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    EXPECT_EQ(Pepper::read_or_create(directory_).error().kind(), ErrorKind::invalid) << content.size();
  }
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/zero", file);
  EXPECT_FALSE(Pepper::read_or_create(directory_));
  EXPECT_FALSE(Pepper::given(""));
  EXPECT_FALSE(Pepper::given(std::string(5000, 'x')));
  EXPECT_EQ(Pepper::given("chosen")->value(), "chosen");
}

}  // namespace
}  // namespace proteus::store::test
