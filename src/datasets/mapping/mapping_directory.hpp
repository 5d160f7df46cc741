#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/clock.hpp"
#include "datasets/mapping/ontology.hpp"
#include "datasets/mapping/plan.hpp"
#include "datasets/mapping/ratification.hpp"

namespace proteus::datasets {

enum class DatasetStatus : std::uint8_t {
  ratified,    // may be connected
  unratified,  // nobody has approved it
  changed,     // its bytes are not those that were approved
  revoked,     // the approval was taken back
  forged,      // the record of the approval was not made with this pepper
  superseded,  // the record is older than one that was seen before
  duplicate,   // another file claims the same name
  invalid,     // the file cannot be read as a mapping
};
std::string_view to_string(DatasetStatus status);

// One file of the directory.
struct DatasetFile {
  std::string file = {};  // its name there
  std::string name = {};  // of the dataset; empty where it cannot be read
  std::string sha256 = {};
  DatasetStatus status = DatasetStatus::unratified;
  std::string reason = {};                    // why it is not ratified, and what to do; empty where it is
  std::optional<Ratification> ratified = {};  // where the record is authentic
  PlanPointer plan = {};                      // null where the file is invalid
  Problems problems = {};                     // of an invalid one
};

struct DirectoryContent {
  std::vector<DatasetFile> files;   // by the name of the file
  std::vector<std::string> faults;  // of ratified.toml

  // The ratified one of that name, or the first other; null for none.
  const DatasetFile* find(std::string_view name) const;
};

// The directory of mappings. Files of it may come and go: nothing is kept. Safe to use from several threads; those who
// write wait for one another, also across processes.
class MappingDirectory {
 public:
  static constexpr std::string_view kRatified = "ratified.toml";
  static constexpr std::string_view kOntology = "ontology.toml";
  static constexpr std::size_t kMaxFiles = 1000;

  MappingDirectory(std::filesystem::path path, Seals seals) : path_(std::move(path)), seals_(std::move(seals)) {}

  const std::filesystem::path& path() const { return path_; }
  bool exists() const;
  // While nobody else uses it.
  void set_path(std::filesystem::path path) { path_ = std::move(path); }

  // Names, sizes and times of the files in it that count: another text after any change of them.
  std::string signature() const;
  // A directory that does not exist is empty. Nothing where somebody is writing to it just now.
  Result<std::optional<DirectoryContent>> read() const;
  // The same, after waiting for them.
  Result<DirectoryContent> read_whole() const;
  // None where there is none.
  Result<std::optional<std::string>> ontology_text() const;

  // Puts a mapping in place and records its approval. The caller has validated it.
  Result<Ratification> ratify(std::string_view text, const Mapping& mapping, std::string by, Clock::Wall now) const;
  // Takes the approval of a dataset back; an error of kind `not_found` where it has none.
  Result<Ratification> revoke(std::string_view name, std::string by, Clock::Wall now) const;
  // Makes what was authenticated with the previous pepper hold without it. Says how many entries that were.
  Result<std::size_t> reseal() const;

 private:
  Result<DirectoryContent> scan() const;
  DatasetFile look_at(const std::string& file, const RatificationEntries& entries) const;
  Result<RatificationFile> ratifications() const;
  // For those who write them back: an error where a part cannot be read.
  Result<RatificationEntries> whole_ratifications() const;
  Result<> put(const RatificationEntries& entries) const;

  std::filesystem::path path_;
  Seals seals_;
};

// The sha256 of a mapping's bytes, as it stands in ratifications.
std::string mapping_hash(std::string_view text);

// A regular file that is no link; at most so many bytes.
Result<std::string> read_plain_file(const std::filesystem::path& file, std::size_t limit);
// Whole, by renaming; readable by all.
Result<> write_plain_file(const std::filesystem::path& file, std::string_view content);

}  // namespace proteus::datasets
