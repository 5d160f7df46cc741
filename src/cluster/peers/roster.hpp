#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <proteus/error.hpp>

#include "base/secrets/process_key.hpp"
#include "base/tasks/task.hpp"
#include "cluster/member.hpp"
#include "net/http/url.hpp"
#include "store/store.hpp"

namespace proteus::cluster {

// A process to which requests can be forwarded.
struct Peer {
  std::string name;
  net::Url url;
};
using PeerPointer = std::shared_ptr<const Peer>;

// The processes that share the store, by their keys. Updated by `take`; looks in the store itself if a process is
// unknown, because it may have started since. Thread-safe.
class Roster {
 public:
  // Name of the URL among the facts of a process.
  static constexpr std::string_view kUrlFact = "peer_url";

  // Both must outlive the roster.
  Roster(store::Store& store, const Member& member) : store_(store), member_(member) {}

  void take(const std::vector<store::MemberRecord>& members);
  // Returns the names of the live processes that have a URL, as of the last `take`.
  std::set<std::string> living() const;

  // Returns null if there is no such process any more, or it has no URL. Fails if that cannot be determined now. A
  // process that merely does not answer is not gone: only the store decides that.
  Task<Result<PeerPointer>> find(ProcessKey key);
  // Like `find`, but always reads the store.
  Task<Result<PeerPointer>> find_in_store(ProcessKey key);
  // Like `find`, as of the last `take`.
  PeerPointer look_up(const ProcessKey& key) const;
  // Returns whether a process lives, even if it has no URL.
  Task<Result<bool>> lives(ProcessKey key);

 private:
  using Table = std::unordered_map<ProcessKey, PeerPointer>;  // live processes; null for one without a URL

  Task<Result<>> look_for(ProcessKey key);
  bool is_known(const ProcessKey& key) const;

  bool is_missed(const ProcessKey& key) const;

  store::Store& store_;
  const Member& member_;
  mutable std::mutex mutex_;
  Table table_;
  std::unordered_map<ProcessKey, Clock::Monotonic> missed_;  // unknown processes, and when the store was asked for them
};

}  // namespace proteus::cluster
