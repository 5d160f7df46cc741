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

// Authenticates operators by their keys, and ends long-running answers when access is withdrawn. Thread-safe.
class AdminAuth {
 public:
  explicit AdminAuth(AdminKeys keys) : keys_(std::make_shared<const AdminKeys>(std::move(keys))) {}

  // Replaces the keys, and ends the answers to holders of keys that are gone or renamed.
  void set_keys(AdminKeys keys);
  // Ends the answers to operators whose token or session has expired, and those that `end_withdrawn` ends.
  void end_expired(Clock::Wall now);
  // Ends the answers to operators whose access was withdrawn: whose key is gone, whose identity provider vouches for
  // them under other rules now, or whose session on the page has ended.
  void end_withdrawn();

  // An authenticated operator: the holder of a key, or a person whom an identity provider vouches for.
  struct KeyHolder {
    std::string name;     // of the key, or of the person
    json::Digest digest;  // of the key's secret, or from Vouching
    Role role;
    bool is_vouched_for = false;             // by an identity provider; has no key
    Clock::Wall until = Clock::Wall::max();  // expiry of the token or session
    std::string issuer = {};                 // the identity provider; empty for a key
    std::string session = {};                // token of the session on the page; empty outside of one
  };
  std::optional<KeyHolder> admit(std::string_view secret) const;
  // Returns the operator of an earlier sign-in with the present role of the key; nothing if the key was removed. An
  // operator without a key stays the same while Vouching returns the same digest.
  std::optional<KeyHolder> admit_again(const KeyHolder& before) const;
  // Returns a digest of everything on which the access through an identity provider depends here; nothing if there is
  // none any more. Must be set before the first request, and must be thread-safe.
  using Vouching = std::function<std::optional<json::Digest>(std::string_view issuer)>;
  void set_vouching(Vouching vouching) { vouching_ = std::move(vouching); }
  // Whether a session on the page has ended. Must be set before the first request, and must be thread-safe.
  using HasEnded = std::function<bool(const std::string& session)>;
  void set_has_ended(HasEnded has_ended) { has_ended_ = std::move(has_ended); }

  // Registers a long-running answer while it exists. `end` is called when access is withdrawn: on any thread, perhaps
  // in the constructor, and perhaps more than once, but not after the destructor. It must not call AdminAuth.
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
  bool still_admits(const KeyHolder& holder) const;

  Published<AdminKeys> keys_;
  Vouching vouching_;
  HasEnded has_ended_;
  std::mutex mutex_;
  std::list<KeyLease*> leases_;  // guarded by mutex_
};

}  // namespace proteus::admin
