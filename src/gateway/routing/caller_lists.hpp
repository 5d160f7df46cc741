#pragma once

#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "gateway/routing/remembered_lists.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// On whose behalf lists are read. What it refers to outlives it.
struct Asker {
  const mcp::Request& request;
  const server::Caller& caller;
  server::Session* session = nullptr;
  std::string_view authorization = {};  // see server::Call

  static Asker of(const server::Call& call) {
    return {call.request(), call.caller(), call.session(), call.authorization()};
  }
};

// What upstreams that are listed live have listed to the caller of one request: as remembered, or as read for it. Costs
// nothing before it is first asked. Used on one thread.
class CallerLists {
 public:
  // The memory outlives it.
  CallerLists(RememberedLists& memory, Asker asker) : memory_(memory), asker_(asker) {}

  struct Known {
    enum class State : std::uint8_t { unread, unreadable, read } state = State::unread;
    const ListedNames* names = nullptr;   // where it was read; lives as long as the lists
    ErrorKind why = ErrorKind::internal;  // where it could not be
  };
  Known find(const ServedUpstream& upstream, catalog::Kind kind);
  // Also remembers it.
  void add(const ServedUpstream& upstream, catalog::Kind kind, RememberedLists::Reading reading,
           Result<ListedNames::Pointer> names);

  // Whether anything was answered from memory, which may be a little out of date.
  bool recalled() const { return recalled_; }
  // From now on only what is read counts.
  void read_anew();

  // Names all that an upstream's lists may depend on.
  const std::string& key();
  RememberedLists& memory() { return memory_; }
  const Asker& asker() const { return asker_; }

 private:
  struct Entry {
    std::uint64_t instance;
    catalog::Kind kind;
    ListedNames::Pointer names;  // null where it could not be read
    ErrorKind why = ErrorKind::internal;
  };

  RememberedLists& memory_;
  const Asker asker_;
  std::string key_;
  std::vector<Entry> entries_;
  bool recalled_ = false;
  bool recalls_ = true;
};

}  // namespace proteus::gateway
