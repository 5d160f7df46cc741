#include "datasets/mapping/mapping_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/log/log.hpp"
#include "base/unique_fd.hpp"
#include "json/canonical.hpp"
#include "store/private_file.hpp"

namespace proteus::datasets {
namespace {

namespace fs = std::filesystem;

// A lock on the directory, for several readers or one writer, also across processes.
class Hold {
 public:
  enum class Way : std::uint8_t { shared, shared_now, alone };

  Hold(const fs::path& path, Way way) : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (!fd_) {
      error_ = errno;
      return;
    }
    const int mode = way == Way::alone ? LOCK_EX : way == Way::shared ? LOCK_SH : LOCK_SH | LOCK_NB;
    while (::flock(fd_.get(), mode) != 0) {
      error_ = errno;
      if (errno != EINTR) return;
      error_ = 0;
    }
  }

  bool is_missing() const { return error_ == ENOENT; }
  bool is_busy() const { return error_ == EWOULDBLOCK; }
  Result<> check(const fs::path& path) const {
    if (error_ == 0) return {};
    return std::unexpected(
        errors::internal(fmt::format("the directory {}: {}", path.string(), store::system_message(error_))));
  }

 private:
  UniqueFd fd_;
  int error_ = 0;
};

bool is_mapping_file(const std::string& name) {
  return name.ends_with(".toml") && !name.starts_with('.') && name != MappingDirectory::kRatified &&
         name != MappingDirectory::kOntology;
}

Error too_many_files() {
  return errors::too_large("the number of files in the directory of mappings", MappingDirectory::kMaxFiles);
}

Result<std::vector<std::string>> names_in(const fs::path& path) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (!is_mapping_file(name)) continue;
    if (names.size() == MappingDirectory::kMaxFiles) return std::unexpected(too_many_files());
    names.push_back(std::move(name));
  }
  if (error) {
    return std::unexpected(errors::internal(fmt::format("the directory {}: {}", path.string(), error.message())));
  }
  std::ranges::sort(names);
  return names;
}

void refuse_duplicates(std::vector<DatasetFile>& files) {
  std::map<std::string, std::vector<DatasetFile*>> by_name;
  for (DatasetFile& one : files) {
    if (!one.name.empty()) by_name[one.name].push_back(&one);
  }
  for (const auto& [name, all] : by_name) {
    if (all.size() < 2) continue;
    for (DatasetFile* one : all) {
      one->status = DatasetStatus::duplicate;
      const DatasetFile* other = all.front() == one ? all.back() : all.front();
      one->reason = fmt::format("{} claims the name {} too; keep one of the two", log::printable(other->file), name);
    }
  }
}

std::string reason_for(DatasetStatus status, const std::string& file) {
  switch (status) {
    case DatasetStatus::unratified:
      return fmt::format("nobody has ratified it; a data owner can, with `proteus dataset ratify {} --by WHO`", file);
    case DatasetStatus::changed:
      return fmt::format(
          "the file has changed since it was ratified; look at it, and ratify it again with `proteus "
          "dataset ratify {} --by WHO`",
          file);
    case DatasetStatus::revoked: return "its ratification was revoked";
    case DatasetStatus::forged:
      return "the record in ratified.toml was not made by `proteus dataset ratify` with this gateway's pepper; ratify "
             "it "
             "again";
    case DatasetStatus::superseded:
      return "the record in ratified.toml is older than one that was in force before; ratify it again";
    default: return {};
  }
}

}  // namespace

std::string_view to_string(DatasetStatus status) {
  switch (status) {
    case DatasetStatus::ratified: return "ratified";
    case DatasetStatus::unratified: return "unratified";
    case DatasetStatus::changed: return "changed";
    case DatasetStatus::revoked: return "revoked";
    case DatasetStatus::forged: return "forged";
    case DatasetStatus::superseded: return "superseded";
    case DatasetStatus::duplicate: return "duplicate";
    case DatasetStatus::invalid: return "invalid";
  }
  return "invalid";
}

std::string mapping_hash(std::string_view text) { return json::hex(json::sha256(text)); }

const DatasetFile* DirectoryContent::find(std::string_view name) const {
  const auto found = std::ranges::find(files, name, &DatasetFile::name);
  return found == files.end() ? nullptr : &*found;
}

bool MappingDirectory::exists() const {
  std::error_code ignored;
  return fs::is_directory(path_, ignored);
}

std::string MappingDirectory::signature() const {
  std::error_code error;
  std::set<std::string> lines;
  const auto add = [&](const std::string& name) {
    struct stat facts{};
    if (::lstat((path_ / name).c_str(), &facts) != 0) return;
    lines.insert(fmt::format("{}/{}/{}/{}.{}/{}.{}\n", name, facts.st_ino, facts.st_size, facts.st_mtim.tv_sec,
                             facts.st_mtim.tv_nsec, facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec));
  };
  std::size_t mappings = 0;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_mapping_file(name)) continue;
    if (++mappings > kMaxFiles + 1) break;  // too many to read; changes count again once some are removed
    add(name);
  }
  // These two count in any case.
  add(std::string(kRatified));
  add(std::string(kOntology));
  std::string all = error ? error.message() : "";
  for (const auto& line : lines)
    all += line;
  return all;
}

Result<std::optional<DirectoryContent>> MappingDirectory::read() const {
  const Hold hold(path_, Hold::Way::shared_now);
  if (hold.is_missing()) return DirectoryContent{};
  if (hold.is_busy()) return std::nullopt;
  if (auto held = hold.check(path_); !held) return std::unexpected(std::move(held.error()));
  auto scanned = scan();
  if (!scanned) return std::unexpected(std::move(scanned.error()));
  return std::move(*scanned);
}

Result<DirectoryContent> MappingDirectory::read_whole() const {
  const Hold hold(path_, Hold::Way::shared);
  if (hold.is_missing()) return DirectoryContent{};
  if (auto held = hold.check(path_); !held) return std::unexpected(std::move(held.error()));
  return scan();
}

Result<std::optional<std::string>> MappingDirectory::ontology_text() const {
  auto text = read_plain_file(path_ / kOntology, limits::kMappingBytes);
  if (text) return std::move(*text);
  if (text.error().kind() == ErrorKind::not_found) return std::nullopt;
  return std::unexpected(std::move(text.error()));
}

Result<RatificationFile> MappingDirectory::ratifications() const {
  auto text = read_plain_file(path_ / kRatified, limits::kMappingBytes);
  if (text) return parse_ratifications(*text);
  if (text.error().kind() == ErrorKind::not_found) return RatificationFile{};
  return std::unexpected(std::move(text.error()));
}

Result<RatificationEntries> MappingDirectory::whole_ratifications() const {
  auto recorded = ratifications();
  if (!recorded) return std::unexpected(std::move(recorded.error()));
  if (recorded->faults.empty()) return std::move(recorded->entries);
  return std::unexpected(
      errors::conflict(fmt::format("{}: {}; nothing was changed, because what cannot be read there would be lost. "
                                   "Mend the file, or bring it back from a backup",
                                   (path_ / kRatified).string(), recorded->faults.front())));
}

Result<DirectoryContent> MappingDirectory::scan() const {
  auto names = names_in(path_);
  if (!names) return std::unexpected(std::move(names.error()));
  DirectoryContent content;
  auto recorded = ratifications();
  // Without the record nothing is ratified, but everything is shown.
  if (!recorded) content.faults.push_back(recorded.error().message());
  if (recorded) content.faults = std::move(recorded->faults);
  const RatificationEntries none;
  content.files.reserve(names->size());
  for (const auto& name : *names)
    content.files.push_back(look_at(name, recorded ? recorded->entries : none));
  refuse_duplicates(content.files);
  return content;
}

DatasetFile MappingDirectory::look_at(const std::string& file, const RatificationEntries& entries) const {
  DatasetFile seen{.file = file};
  const auto text = read_plain_file(path_ / file, limits::kMappingBytes);
  if (!text) {
    seen.status = DatasetStatus::invalid;
    seen.reason = text.error().message();
    return seen;
  }
  seen.sha256 = mapping_hash(*text);
  auto parsed = parse_mapping(*text);
  if (!parsed) {
    seen.status = DatasetStatus::invalid;
    seen.problems = std::move(parsed.error());
    seen.reason = show(file, seen.problems.front());
    return seen;
  }
  seen.name = parsed->mapping.name;
  seen.plan = std::make_shared<const Plan>(std::move(parsed->mapping), seen.sha256);
  const auto entry = entries.find(seen.name);
  if (entry == entries.end()) {
    seen.status = DatasetStatus::unratified;
  } else if (seals_.check(seen.name, entry->second.ratification, entry->second.mac) == Seals::Verdict::wrong) {
    seen.status = DatasetStatus::forged;
  } else {
    seen.ratified = entry->second.ratification;
    seen.status = seen.ratified->revoked                 ? DatasetStatus::revoked
                  : seen.ratified->sha256 == seen.sha256 ? DatasetStatus::ratified
                                                         : DatasetStatus::changed;
  }
  seen.reason = reason_for(seen.status, file);
  return seen;
}

Result<> MappingDirectory::put(const RatificationEntries& entries) const {
  return write_plain_file(path_ / kRatified, write_ratifications(entries));
}

namespace {

// Returns a time after that of the entry before, whatever the clock says: the later record is the newer one.
store::Time later(Clock::Wall now, const RatificationEntries& entries, std::string_view name) {
  const store::Time at = store::to_time(now);
  const auto before = entries.find(name);
  if (before == entries.end()) return at;
  return std::max(at, before->second.ratification.at + std::chrono::microseconds(1));
}

}  // namespace

Result<Ratification> MappingDirectory::ratify(std::string_view text, const Mapping& mapping, std::string by,
                                              Clock::Wall now) const {
  if (auto checked = check_who(by); !checked) return std::unexpected(std::move(checked.error()).within("--by"));
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    return std::unexpected(errors::internal(fmt::format("the directory {}: {}", path_.string(), error.message())));
  }
  const Hold hold(path_, Hold::Way::alone);
  if (auto held = hold.check(path_); !held) return std::unexpected(std::move(held.error()));
  const auto content = scan();
  if (!content) return std::unexpected(content.error());
  const std::string file = mapping.name + ".toml";
  for (const DatasetFile& other : content->files) {
    if (other.name == mapping.name && other.file != file) {
      return std::unexpected(errors::conflict(
          fmt::format("{} in the directory of mappings claims the name {} already; remove it, or choose another name",
                      log::printable(other.file), mapping.name)));
    }
  }
  auto recorded = whole_ratifications();
  if (!recorded) return std::unexpected(std::move(recorded.error()));
  RatificationEntries entries = std::move(*recorded);
  if (entries.size() >= limits::kRatifications && !entries.contains(mapping.name)) {
    return std::unexpected(
        errors::exhausted(fmt::format("{} has {} entries already", kRatified, limits::kRatifications)));
  }
  Ratification made{
      .sha256 = mapping_hash(text), .by = std::move(by), .at = later(now, entries, mapping.name), .revoked = false};
  entries[mapping.name] = {made, seals_.make(mapping.name, made)};
  if (auto written = write_plain_file(path_ / file, text); !written) return std::unexpected(std::move(written.error()));
  if (auto written = put(entries); !written) return std::unexpected(std::move(written.error()));
  return made;
}

Result<Ratification> MappingDirectory::revoke(std::string_view name, std::string by, Clock::Wall now) const {
  if (auto checked = check_who(by); !checked) return std::unexpected(std::move(checked.error()).within("--by"));
  const Hold hold(path_, Hold::Way::alone);
  if (hold.is_missing()) return std::unexpected(errors::not_found("nothing is ratified here"));
  if (auto held = hold.check(path_); !held) return std::unexpected(std::move(held.error()));
  auto recorded = whole_ratifications();
  if (!recorded) return std::unexpected(std::move(recorded.error()));
  RatificationEntries entries = std::move(*recorded);
  const auto found = entries.find(name);
  if (found == entries.end() || found->second.ratification.revoked) {
    return std::unexpected(errors::not_found(fmt::format("{} is not ratified", log::printable(name, 100))));
  }
  Ratification made{.sha256 = found->second.ratification.sha256,
                    .by = std::move(by),
                    .at = later(now, entries, name),
                    .revoked = true};
  found->second = {made, seals_.make(name, made)};
  if (auto written = put(entries); !written) return std::unexpected(std::move(written.error()));
  return made;
}

Result<std::size_t> MappingDirectory::reseal() const {
  const Hold hold(path_, Hold::Way::alone);
  if (hold.is_missing()) return 0;
  if (auto held = hold.check(path_); !held) return std::unexpected(std::move(held.error()));
  auto recorded = whole_ratifications();
  if (!recorded) return std::unexpected(std::move(recorded.error()));
  std::size_t count = 0;
  for (auto& [name, entry] : *recorded) {
    if (seals_.check(name, entry.ratification, entry.mac) != Seals::Verdict::previous) continue;
    entry.mac = seals_.make(name, entry.ratification);
    ++count;
  }
  if (count == 0) return count;
  if (auto written = put(*recorded); !written) return std::unexpected(std::move(written.error()));
  return count;
}

}  // namespace proteus::datasets
