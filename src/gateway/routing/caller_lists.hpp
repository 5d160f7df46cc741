#pragma once

#include <string>
#include <vector>

#include <proteus/error.hpp>

#include "gateway/routing/remembered_lists.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// On whose behalf lists are read. What it refers to must outlive it.
struct Asker {
  const mcp::Request& request;
  const server::Caller& caller;
  server::Session* session = nullptr;
  std::string_view authorization = {};  // see server::Call

  static Asker of(const server::Call& call) {
    return {call.request(), call.caller(), call.session(), call.authorization()};
  }
  // Returns a key with everything about the caller that an upstream's lists may depend on, except for `_meta`.
  std::string key() const;
};

// What live upstreams have listed to the caller of one request, remembered or read for this request. Costs nothing
// until the first look-up. Used on one thread.
class CallerLists {
 public:
  // `memory` must outlive it.
  CallerLists(RememberedLists& memory, Asker asker) : memory_(memory), asker_(asker) {}

  struct Known {
    enum class State : std::uint8_t { unread, unreadable, read } state = State::unread;
    const ListedNames* names = nullptr;   // if read; lives as long as this object
    ErrorKind why = ErrorKind::internal;  // if unreadable
  };
  Known find(const ServedUpstream& upstream, catalog::Kind kind);
  // Adds what was read, and remembers it.
  void add(const ServedUpstream& upstream, catalog::Kind kind, RememberedLists::Reading reading,
           Result<ListedNames::Pointer> names);

  // Whether anything was answered from memory, which may be out of date.
  bool recalled() const { return recalled_; }
  // Forgets everything and ignores the memory from now on.
  void read_anew();

  // Returns a key with everything that an upstream's lists may depend on.
  const std::string& key();
  RememberedLists& memory() { return memory_; }
  const Asker& asker() const { return asker_; }

 private:
  struct Entry {
    std::uint64_t instance;
    catalog::Kind kind;
    ListedNames::Pointer names;  // null if it could not be read
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
