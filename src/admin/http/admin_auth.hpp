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
  // Ends those who stay with a token that has ended, or by rules that are others now.
  void end_expired(Clock::Wall now);

  struct KeyHolder {
    std::string name;     // of the key
    json::Digest digest;  // of its secret; of what a provider's word depends on
    Role role;
    bool is_vouched_for = false;             // by an identity provider, instead of a key
    Clock::Wall until = Clock::Wall::max();  // when the token ends that it is known by
    std::string issuer = {};                 // that provider
  };
  std::optional<KeyHolder> admit(std::string_view secret) const;
  // Who was let in with a key before, as that key is now; nothing where it was taken away. Whom an identity provider
  // vouches for stays who they were, as long as what that depended on is the same.
  std::optional<KeyHolder> admit_again(const KeyHolder& before) const;
  // What the word of an identity provider depends on here; nothing where it counts no more. Set before anything is
  // asked; called on any thread.
  using Vouching = std::function<std::optional<json::Digest>(std::string_view issuer)>;
  void set_vouching(Vouching vouching) { vouching_ = std::move(vouching); }

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
  Vouching vouching_;
  std::mutex mutex_;
  std::list<KeyLease*> leases_;  // guarded by mutex_
};

}  // namespace proteus::admin
