#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/process_key.hpp"
#include "base/task.hpp"
#include "cluster/member.hpp"
#include "net/http/url.hpp"
#include "store/store.hpp"

namespace proteus::cluster {

// A process that can be asked.
struct Peer {
  std::string name;
  net::Url url;
};
using PeerPointer = std::shared_ptr<const Peer>;

// The processes that share the store, by their keys. It is told of them again and again, and looks itself where
// somebody asks for one that is not there: it may have begun since. Thread-safe.
class Roster {
 public:
  // What a process says of itself has its URL under this name.
  static constexpr std::string_view kUrlFact = "peer_url";

  // Both outlive it.
  Roster(store::Store& store, const Member& member) : store_(store), member_(member) {}

  void take(const std::vector<store::MemberRecord>& members);
  // The names of those that live, as it was told last.
  std::set<std::string> living() const;
  std::vector<ProcessKey> living_keys() const;

  // Null where there is no such process any more, or it has no URL. Fails where that cannot be known now. Who only does
  // not answer is not gone: that is known by the store, and by nothing else.
  Task<Result<PeerPointer>> find(ProcessKey key);
  // The same as the store has it now.
  Task<Result<PeerPointer>> find_in_store(ProcessKey key);
  // The same as it was told last.
  PeerPointer look_up(const ProcessKey& key) const;
  // Whether a process lives, which may have no URL.
  Task<Result<bool>> lives(ProcessKey key);

 private:
  using Table = std::unordered_map<ProcessKey, PeerPointer>;  // those that live; null for one without a URL

  Task<Result<>> look_for(ProcessKey key);
  bool is_known(const ProcessKey& key) const;

  bool is_missed(const ProcessKey& key) const;

  store::Store& store_;
  const Member& member_;
  mutable std::mutex mutex_;
  Table table_;
  std::unordered_map<ProcessKey, Clock::Monotonic> missed_;  // and when they were looked for in the store
};

}  // namespace proteus::cluster
