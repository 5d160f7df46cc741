#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/secrets/process_key.hpp"
#include "base/secrets/sealing.hpp"

namespace proteus::live {

// Names and seals the live data in Redis, with keys derived from the pepper. Somebody who reads Redis learns how many
// streams and sessions there are, how large they are and which process has each session. Somebody who writes to Redis
// can forge nothing. Thread-safe.
//
//   proteus:1:events:<session>:<stream>   hash; the sealed events by number, and as "r" the sealed ids of the
//                                         requests, one per line (see event_store.hpp)
//   proteus:1:session:<session>           string; the record of a session, sealed except for its holder
//   proteus:1:process:<process>           string; says whether all records of a process are there
//
// <session> is derived from the session's id and does not reveal it.
class LiveKeys {
 public:
  explicit LiveKeys(std::string_view pepper);

  std::string events(std::string_view session, std::uint64_t stream) const;
  std::string session(std::string_view session) const;
  static std::string process(const ProcessKey& process);

  // `key` and `field` are the place of the sealed text, which can be opened only with the same place.
  std::string seal(std::string_view plain, std::string_view key, std::string_view field) const;
  std::optional<std::string> open(std::string_view sealed, std::string_view key, std::string_view field) const;

 private:
  std::string name_of(std::string_view session) const;

  const std::string naming_;
  const SealingKey sealing_;
};

}  // namespace proteus::live
