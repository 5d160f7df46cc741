#include "datasets/mapping/mapping_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/testing/test_database.hpp"

namespace proteus::datasets {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class MappingDirectoryTest : public testing::Test {
 protected:
  MappingDirectory directory(std::string_view pepper = "pepper") const { return {path(), Seals(pepper)}; }
  fs::path path() const { return folder.path() / "mappings"; }

  Ratification ratify(std::string_view text = test::kCompanyMapping, int second = 0) {
    return directory()
        .ratify(text, parse_mapping(text).value().mapping, "alice",
                std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000 + second)))
        .value();
  }
  Result<Ratification> revoke(std::string_view name = "acme") {
    return directory().revoke(name, "bob", std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'100)));
  }
  void put(std::string_view file, std::string_view text) {
    fs::create_directories(path());
    std::ofstream(path() / file, std::ios::binary) << text;
  }
  std::string get(std::string_view file) { return store::test::bytes_of_file(path() / file); }
  DatasetStatus status(std::string_view pepper = "pepper") {
    const auto content = directory(pepper).read_whole().value();
    return content.find("acme") != nullptr ? content.find("acme")->status : DatasetStatus::invalid;
  }

  test::TemporaryDirectory folder;
};

// DAT-21
TEST_F(MappingDirectoryTest, RatifyingRecordsWhoWhenAndWhat) {
  ratify();
  const auto content = directory().read_whole().value();
  const DatasetFile& file = *content.find("acme");
  EXPECT_EQ(file.status, DatasetStatus::ratified);
  EXPECT_EQ(file.file, "acme.toml");
  EXPECT_EQ(file.sha256, mapping_hash(test::kCompanyMapping));
  EXPECT_EQ(file.ratified.value().by, "alice");
  EXPECT_EQ(write_instant(file.ratified.value().at), "2027-01-15T08:00:00.000000Z");
  EXPECT_EQ(parse_instant("2027-01-15T08:00:00.000000Z"), file.ratified.value().at);
  EXPECT_FALSE(parse_instant("2027-13-15T08:00:00.000000Z"));
  ASSERT_TRUE(revoke());
  EXPECT_EQ(status(), DatasetStatus::revoked);
  EXPECT_EQ(revoke().error().kind(), ErrorKind::not_found);
}

// DAT-21: write access to the files is not enough to ratify
TEST_F(MappingDirectoryTest, ARecordWrittenByHandRatifiesNothing) {
  put("acme.toml", test::kCompanyMapping);
  EXPECT_EQ(status(), DatasetStatus::unratified);
  put("ratified.toml",
      fmt::format("[acme]\nsha256 = \"{}\"\nby = \"mallory\"\nat = \"2027-01-15T08:00:00.000000Z\"\nmac = "
                  "\"{}\"\n",
                  mapping_hash(test::kCompanyMapping), std::string(64, 'a')));
  EXPECT_EQ(status(), DatasetStatus::forged);
  ratify();
  EXPECT_EQ(status(), DatasetStatus::ratified);
  EXPECT_EQ(status("another pepper"), DatasetStatus::forged);
  // No part of an entry can be changed, and no entry can be moved to another name.
  const std::string record = get("ratified.toml");
  for (const auto& [what, by] : {std::pair("alice", "malice"), std::pair("2027-01-15T08", "2027-01-15T09")}) {
    std::string edited = record;
    edited.replace(edited.find(what), std::string_view(what).size(), by);
    put("ratified.toml", edited);
    EXPECT_EQ(status(), DatasetStatus::forged) << what;
  }
  std::string renamed(test::kCompanyMapping);
  renamed.replace(renamed.find("acme"), 4, "evil");
  put("evil.toml", renamed);
  std::string moved = record;
  moved.replace(moved.find("[acme]"), 6, "[evil]");
  put("ratified.toml", moved);
  EXPECT_EQ(directory().read_whole().value().find("evil")->status, DatasetStatus::forged);
  put("ratified.toml", "this is no TOML");
  EXPECT_EQ(status(), DatasetStatus::unratified);
  EXPECT_FALSE(directory().read_whole().value().faults.empty());
}

// DAT-06
TEST_F(MappingDirectoryTest, OneByteIsEnoughToBeAnother) {
  ratify();
  const std::string before = directory().signature();
  put("acme.toml", std::string(test::kCompanyMapping) + "\n");
  EXPECT_NE(directory().signature(), before);
  EXPECT_EQ(status(), DatasetStatus::changed);
  const auto content = directory().read_whole().value();
  EXPECT_THAT(content.find("acme")->reason, HasSubstr("ratify it again"));
  put("acme.toml", test::kCompanyMapping);
  EXPECT_EQ(status(), DatasetStatus::ratified);
}

TEST_F(MappingDirectoryTest, ARecordThatCannotBeReadWholeIsNotWrittenOver) {
  ratify();
  std::string faulty = get("ratified.toml");
  const auto lines = std::ranges::count(faulty, '\n');
  faulty += "\n[other]\nsha256 = 5\n";
  for (const std::string& text : {faulty, get("ratified.toml") + "this is no TOML"}) {
    put("ratified.toml", text);
    const auto again = directory().ratify(test::kCompanyMapping, parse_mapping(test::kCompanyMapping).value().mapping,
                                          "alice", std::chrono::system_clock::now());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind(), ErrorKind::conflict);
    EXPECT_THAT(again.error().message(), HasSubstr("ratified.toml: line "));
    EXPECT_EQ(revoke().error().kind(), ErrorKind::conflict);
    EXPECT_EQ(MappingDirectory(path(), Seals("new pepper", "pepper")).reseal().error().kind(), ErrorKind::conflict);
    EXPECT_EQ(get("ratified.toml"), text);
  }
  put("ratified.toml", faulty);
  EXPECT_THAT(revoke().error().message(), HasSubstr(fmt::format("ratified.toml: line {}", lines + 3)));
}

TEST_F(MappingDirectoryTest, ARecordHasSoManyEntriesAndNoMore) {
  RatificationEntries entries;
  for (std::size_t i = 0; i < limits::kRatifications; ++i)
    entries[fmt::format("d{}", i)] = {{.sha256 = std::string(64, 'a'), .by = "x"}, std::string(64, 'a')};
  put("ratified.toml", write_ratifications(entries));
  const auto again = directory().ratify(test::kCompanyMapping, parse_mapping(test::kCompanyMapping).value().mapping,
                                        "alice", std::chrono::system_clock::now());
  EXPECT_EQ(again.error().kind(), ErrorKind::exhausted);
  EXPECT_TRUE(parse_ratifications(write_ratifications(entries)).faults.empty());
  entries["one_more"] = entries["d0"];
  EXPECT_FALSE(parse_ratifications(write_ratifications(entries)).faults.empty());
}

TEST_F(MappingDirectoryTest, ANameThatIsNoTextIsNotWrittenIntoTheRecord) {
  ratify();
  EXPECT_EQ(directory().revoke("acme", "Jos\xe9", {}).error().kind(), ErrorKind::invalid);
  EXPECT_EQ(status(), DatasetStatus::ratified);
  EXPECT_TRUE(directory().revoke("acme", "José", {}));
}

TEST_F(MappingDirectoryTest, ChangesAreSeenAmongManyFilesOfOtherKinds) {
  ratify();
  const std::string alone = directory().signature();
  for (std::size_t i = 0; i < MappingDirectory::kMaxFiles + 1; ++i)
    put(fmt::format("{}.txt", i), "");
  EXPECT_TRUE(directory().signature() == alone);  // files of other kinds do not count
  ASSERT_TRUE(revoke());
  const std::string revoked = directory().signature();
  EXPECT_TRUE(revoked != alone);
  put("ontology.toml", "");
  EXPECT_TRUE(directory().signature() != revoked);
  for (std::size_t i = 0; i < MappingDirectory::kMaxFiles + 1; ++i)
    put(fmt::format("{}.toml", i), "");
  const std::string crowded = directory().signature();
  fs::last_write_time(path() / "ratified.toml", fs::file_time_type());
  EXPECT_TRUE(directory().signature() != crowded);
}

TEST_F(MappingDirectoryTest, LinksAreRefused) {
  ratify();
  fs::rename(path() / "acme.toml", folder.path() / "elsewhere.toml");
  fs::create_symlink(folder.path() / "elsewhere.toml", path() / "acme.toml");
  const auto content = directory().read_whole().value();
  ASSERT_EQ(content.files.size(), 1U);
  EXPECT_EQ(content.files[0].status, DatasetStatus::invalid);
  EXPECT_THAT(content.files[0].reason, HasSubstr("is a link"));
}

// DAT-07
TEST_F(MappingDirectoryTest, OneMalformedFileDoesNotStopTheOthers) {
  put("broken.toml", "[dataset]\nname = ");
  put("big.toml", std::string((std::size_t{1} << 20U) + 1, ' '));
  put("notes.txt", "no mapping");
  ratify();
  const auto content = directory().read_whole().value();
  EXPECT_EQ(content.files.size(), 3U);
  EXPECT_EQ(status(), DatasetStatus::ratified);
  for (const auto& file : content.files) {
    if (file.name.empty()) {
      EXPECT_EQ(file.status, DatasetStatus::invalid);
    }
    if (file.file == "broken.toml") {
      EXPECT_THAT(file.reason, HasSubstr("broken.toml:2:"));
    }
  }
}

// DAT-08
TEST_F(MappingDirectoryTest, TwoFilesWithOneNameAreRefused) {
  ratify();
  put("copy.toml", test::kCompanyMapping);
  EXPECT_EQ(status(), DatasetStatus::duplicate);
  const auto again = directory().ratify(test::kCompanyMapping, parse_mapping(test::kCompanyMapping).value().mapping,
                                        "alice", std::chrono::system_clock::now());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind(), ErrorKind::conflict);
}

TEST_F(MappingDirectoryTest, LaterRecordsAreLaterWhateverTheClockSays) {
  const auto first = ratify(test::kCompanyMapping, 50);
  const auto second = ratify(test::kCompanyMapping, 10);
  EXPECT_GT(second.at, first.at);
}

// SEC-09
TEST_F(MappingDirectoryTest, RatificationsSurviveANewPepper) {
  ratify();
  const MappingDirectory rotating(path(), Seals("new", "pepper"));
  EXPECT_EQ(rotating.read_whole().value().find("acme")->status, DatasetStatus::ratified);
  EXPECT_EQ(rotating.reseal().value(), 1U);
  EXPECT_EQ(rotating.reseal().value(), 0U);
  EXPECT_EQ(status("new"), DatasetStatus::ratified);
}

TEST_F(MappingDirectoryTest, ADirectoryThatIsNotThereIsEmpty) {
  EXPECT_TRUE(directory().read_whole().value().files.empty());
  EXPECT_TRUE(directory().read().value().has_value());
}

}  // namespace
}  // namespace proteus::datasets
