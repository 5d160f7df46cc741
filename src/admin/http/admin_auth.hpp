#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "admin/http/keys.hpp"
#include "base/clock.hpp"
#include "base/published.hpp"

namespace proteus::admin {

// Lets in who has a key, and shows out who stays when that key is taken away. Thread-safe.
class AdminAuth {
 public:
  explicit AdminAuth(AdminKeys keys) : keys_(std::make_shared<const AdminKeys>(std::move(keys))) {}

  // Ends those who stay with a key that is another one now, or none.
  void set_keys(AdminKeys keys);
  // Ends those who stay with a token that has ended.
  void end_expired(Clock::Wall now);

  struct KeyHolder {
    std::string name;     // of the key
    json::Digest digest;  // of its secret
    Role role;
    bool is_vouched_for = false;             // by an identity provider, instead of a key
    Clock::Wall until = Clock::Wall::max();  // when the token ends that it is known by
    std::string issuer = {};                 // that provider
  };
  std::optional<KeyHolder> admit(std::string_view secret) const;

  // An answer that goes on. Its end is asked for on any thread, perhaps at once and more than once, and not any more
  // when this has ended; it must not call back here.
  class KeyLease {
   public:
    using End = std::function<void()>;
    KeyLease(AdminAuth& auth, KeyHolder holder, End end);
    ~KeyLease();
    KeyLease(const KeyLease&) = delete;
    KeyLease& operator=(const KeyLease&) = delete;

   private:
    friend class AdminAuth;
    AdminAuth& auth_;
    const KeyHolder holder_;
    const End end_;
    std::list<KeyLease*>::iterator place_;
  };

 private:
  bool knows(const KeyHolder& holder) const;

  Published<AdminKeys> keys_;
  std::mutex mutex_;
  std::list<KeyLease*> leases_;  // guarded by mutex_
};

}  // namespace proteus::admin
