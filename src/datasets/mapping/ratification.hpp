#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "store/records.hpp"

// Who approved which mapping, and when: ratified.toml. Each entry is authenticated, so that write access to the files
// is not enough to ratify.
namespace proteus::datasets {

struct Ratification {
  std::string sha256 = {};  // of the file's bytes
  std::string by = {};
  store::Time at{};
  bool revoked = false;  // sha256 is then that of the mapping ratified before

  friend bool operator==(const Ratification&, const Ratification&) = default;
};

// Returns a text such as "2026-07-28T12:00:00.000001Z".
std::string write_instant(store::Time time);
std::optional<store::Time> parse_instant(std::string_view text);

// Checks that a name can stand in the file: one line of 1 to 200 bytes of UTF-8.
Result<> check_who(std::string_view by);

// Makes and checks the authentication codes of entries. The key is derived from the pepper and has no other use.
class Seals {
 public:
  explicit Seals(std::string_view pepper, std::optional<std::string_view> previous = std::nullopt);

  std::string make(std::string_view name, const Ratification& ratification) const;
  enum class Verdict : std::uint8_t { current, previous, wrong };
  Verdict check(std::string_view name, const Ratification& ratification, std::string_view mac) const;

 private:
  std::vector<Secret> keys_;  // the current key first
};

// What the file says about one dataset.
struct RatificationEntry {
  Ratification ratification;
  std::string mac;
};

namespace limits {
inline constexpr std::size_t kRatifications = 1000;
}  // namespace limits

// All entries, by the name of the dataset.
using RatificationEntries = std::map<std::string, RatificationEntry, std::less<>>;

// The parsed file. A file that cannot be read ratifies nothing, and neither does an entry that cannot be read.
struct RatificationFile {
  RatificationEntries entries;
  std::vector<std::string> faults;  // with line numbers
};
RatificationFile parse_ratifications(std::string_view text);
std::string write_ratifications(const RatificationEntries& entries);

}  // namespace proteus::datasets
