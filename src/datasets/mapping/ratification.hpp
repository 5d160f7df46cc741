#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "base/secret.hpp"
#include "store/records.hpp"

// Who approved which mapping, and when: ratified.toml. Each entry is authenticated, so that writing files is not enough
// to ratify.
namespace proteus::datasets {

struct Ratification {
  std::string sha256 = {};  // of the file's bytes
  std::string by = {};
  store::Time at{};
  bool revoked = false;  // then sha256 is that of what was ratified before

  friend bool operator==(const Ratification&, const Ratification&) = default;
};

// "2026-07-28T12:00:00.000001Z".
std::string write_instant(store::Time time);
std::optional<store::Time> parse_instant(std::string_view text);

// Whether it can stand in the file: one line, 1 to 200 bytes.
Result<> check_who(std::string_view by);

// Makes and checks the authentication of entries. The key follows from the pepper and is good for nothing else.
class Seals {
 public:
  explicit Seals(std::string_view pepper, std::optional<std::string_view> previous = std::nullopt);

  std::string make(std::string_view name, const Ratification& ratification) const;
  enum class Verdict : std::uint8_t { current, previous, wrong };
  Verdict check(std::string_view name, const Ratification& ratification, std::string_view mac) const;

 private:
  std::vector<Secret> keys_;  // the current one first
};

// What the file says of one dataset.
struct RatificationEntry {
  Ratification ratification;
  std::string mac;
};

namespace limits {
inline constexpr std::size_t kRatifications = 1000;
}  // namespace limits

// All of it, by name.
using RatificationEntries = std::map<std::string, RatificationEntry, std::less<>>;

// The file's text. One that cannot be read ratifies nothing; an entry that cannot be read does not either.
struct RatificationFile {
  RatificationEntries entries;
  std::vector<std::string> faults;  // with lines
};
RatificationFile parse_ratifications(std::string_view text);
std::string write_ratifications(const RatificationEntries& entries);

}  // namespace proteus::datasets
