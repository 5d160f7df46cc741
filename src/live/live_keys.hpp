#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/process_key.hpp"
#include "base/sealing.hpp"

namespace proteus::live {

// How what is live is named and sealed in Redis, by keys that follow from the pepper. Whoever reads Redis learns how
// many streams and sessions there are and how large they are; whoever writes there can make nothing that is opened.
// Safe to use from several threads.
//
//   proteus:1:events:<session>:<stream>   hash; of a number the sealed event, of "r" the sealed id of its request
//   proteus:1:session:<session>           string; the sealed record of a session
//   proteus:1:process:<process>           string; says that all records of a process are there
//
// <session> follows from the session's id, which cannot be found out from it.
class LiveKeys {
 public:
  explicit LiveKeys(std::string_view pepper);

  std::string events(std::string_view session, std::uint64_t stream) const;
  std::string session(std::string_view session) const;
  static std::string process(const ProcessKey& process);

  // `key` and `field` are where it is kept: it opens nowhere else.
  std::string seal(std::string_view plain, std::string_view key, std::string_view field) const;
  std::optional<std::string> open(std::string_view sealed, std::string_view key, std::string_view field) const;

 private:
  std::string name_of(std::string_view session) const;

  const std::string naming_;
  const SealingKey sealing_;
};

}  // namespace proteus::live
