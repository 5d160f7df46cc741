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
  changed,     // its bytes differ from those that were approved
  revoked,     // the approval was withdrawn
  forged,      // the record of the approval was not made with this pepper
  superseded,  // the record is older than one seen before
  duplicate,   // another file claims the same name
  invalid,     // the file is not a valid mapping
};
std::string_view to_string(DatasetStatus status);

// One file of the directory.
struct DatasetFile {
  std::string file = {};  // name of the file
  std::string name = {};  // of the dataset; empty if the file cannot be read
  std::string sha256 = {};
  DatasetStatus status = DatasetStatus::unratified;
  std::string reason = {};                    // why it is not ratified, and what to do; empty if it is
  std::optional<Ratification> ratified = {};  // if the record is authentic
  PlanPointer plan = {};                      // null if the file is invalid
  Problems problems = {};                     // of an invalid file
};

struct DirectoryContent {
  std::vector<DatasetFile> files;   // by file name
  std::vector<std::string> faults;  // of ratified.toml

  // Returns the first file of the dataset; null if there is none. If several files claim the name, all are `duplicate`.
  const DatasetFile* find(std::string_view name) const;
};

// The directory of mappings. Caches nothing, so files may come and go. Thread-safe; writers wait for one another and
// for readers, also across processes.
class MappingDirectory {
 public:
  static constexpr std::string_view kRatified = "ratified.toml";
  static constexpr std::string_view kOntology = "ontology.toml";
  static constexpr std::size_t kMaxFiles = 1000;

  MappingDirectory(std::filesystem::path path, Seals seals) : path_(std::move(path)), seals_(std::move(seals)) {}

  const std::filesystem::path& path() const { return path_; }
  bool exists() const;
  // To be called while no other thread uses the directory.
  void set_path(std::filesystem::path path) { path_ = std::move(path); }

  // Returns the names, sizes and times of the relevant files, as a text that differs after any change of them.
  std::string signature() const;
  // Returns nothing if somebody is writing at the moment. A directory that does not exist is empty.
  Result<std::optional<DirectoryContent>> read() const;
  // Like `read`, but waits for writers.
  Result<DirectoryContent> read_whole() const;
  // Returns nothing if there is no ontology.
  Result<std::optional<std::string>> ontology_text() const;

  // Puts a mapping in place and records its approval. The caller must have validated the mapping.
  Result<Ratification> ratify(std::string_view text, const Mapping& mapping, std::string by, Clock::Wall now) const;
  // Withdraws the approval of a dataset. Fails with `not_found` if it has none.
  Result<Ratification> revoke(std::string_view name, std::string by, Clock::Wall now) const;
  // Authenticates the entries of the previous pepper with the current one, so that the previous one is no longer
  // needed. Returns their number.
  Result<std::size_t> reseal() const;

 private:
  Result<DirectoryContent> scan() const;
  DatasetFile look_at(const std::string& file, const RatificationEntries& entries) const;
  Result<RatificationFile> ratifications() const;
  // For callers that write the entries back: fails if any part cannot be read.
  Result<RatificationEntries> whole_ratifications() const;
  Result<> put(const RatificationEntries& entries) const;

  std::filesystem::path path_;
  Seals seals_;
};

// Returns the sha256 of a mapping's bytes, as ratifications have it.
std::string mapping_hash(std::string_view text);

// Reads a regular file of at most `limit` bytes. Fails if it is a link.
Result<std::string> read_plain_file(const std::filesystem::path& file, std::size_t limit);
// Replaces the file as a whole, by renaming. The file is readable by everybody.
Result<> write_plain_file(const std::filesystem::path& file, std::string_view content);

}  // namespace proteus::datasets
