#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>

#include "auth/issuers/digest_hash.hpp"
#include "base/clock.hpp"
#include "base/memory/memory.hpp"
#include "json/canonical.hpp"

namespace proteus::auth {

// A cache whose keys are the SHA-256 of tokens. Bounded: if it is full, the least recently used entry is dropped.
// Belongs to one thread: the gateway has one cache for each worker, so that a request finds its token without a lock.
template <class Value>
class KeptByToken {
 public:
  explicit KeptByToken(std::size_t capacity, std::chrono::seconds idle = std::chrono::minutes(10))
      : capacity_(capacity), idle_(idle) {}

  // Returns null if the token is unknown or its entry has expired. The pointer is valid until the next call.
  Value* find(const json::Digest& token, Clock::Wall now) {
    const auto found = by_token_.find(token);
    if (found == by_token_.end()) return nullptr;
    if (found->second->until <= now) {
      remove(found->second);
      return nullptr;
    }
    found->second->used = now;
    entries_.splice(entries_.end(), entries_, found->second);
    return &found->second->value;
  }

  void keep(const json::Digest& token, Value value, Clock::Wall until, Clock::Wall now) {
    forget(token);
    if (until <= now || capacity_ == 0) return;
    if (entries_.size() >= capacity_) remove(entries_.begin());
    entries_.push_back({token, std::move(value), until, now});
    by_token_.emplace(token, std::prev(entries_.end()));
  }

  void forget(const json::Digest& token) {
    if (const auto found = by_token_.find(token); found != by_token_.end()) remove(found->second);
  }
  // Drops entries that have expired or are idle. Linear; for a timer.
  void sweep(Clock::Wall now) {
    for (auto entry = entries_.begin(); entry != entries_.end();) {
      const auto next = std::next(entry);
      if (entry->until <= now || entry->used + idle_ <= now) remove(entry);
      entry = next;
    }
    let_go_of_buckets(by_token_);
  }
  void clear() {
    by_token_.clear();
    entries_.clear();
  }
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    json::Digest token;
    Value value;
    Clock::Wall until;
    Clock::Wall used;
  };
  using Place = std::list<Entry>::iterator;  // the most recently used entry is last

  void remove(Place entry) {
    by_token_.erase(entry->token);
    entries_.erase(entry);
  }

  const std::size_t capacity_;
  const std::chrono::seconds idle_;
  std::list<Entry> entries_;
  std::unordered_map<json::Digest, Place, DigestHash> by_token_;
};

}  // namespace proteus::auth
