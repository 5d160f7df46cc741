#include "admin/http/admin_auth.hpp"

#include <utility>

namespace proteus::admin {

void AdminAuth::set_keys(AdminKeys keys) {
  keys_.set(std::make_shared<const AdminKeys>(std::move(keys)));
  const std::lock_guard lock(mutex_);
  for (const KeyLease* lease : leases_) {
    if (!knows(lease->holder_)) lease->end_();
  }
}

void AdminAuth::end_expired(Clock::Wall now) {
  const std::lock_guard lock(mutex_);
  for (const KeyLease* lease : leases_) {
    const KeyHolder& holder = lease->holder_;
    // On the page, the word of a provider depends on the rules; a token that is shown has none.
    const bool by_rules = holder.is_vouched_for && holder.digest != json::Digest{};
    if (holder.until <= now || (by_rules && !admit_again(holder))) lease->end_();
  }
}

std::optional<AdminAuth::KeyHolder> AdminAuth::admit(std::string_view secret) const {
  const json::Digest digest = AdminKeys::digest(secret);
  const auto keys = keys_.get();
  const AdminKeys::Entry* const key = keys->find(digest);
  if (key == nullptr) return std::nullopt;
  return KeyHolder{key->name, digest, key->role};
}

std::optional<AdminAuth::KeyHolder> AdminAuth::admit_again(const KeyHolder& before) const {
  if (before.is_vouched_for) {
    const auto digest = vouching_ ? vouching_(before.issuer) : std::nullopt;
    return digest == before.digest ? std::optional(before) : std::nullopt;
  }
  const auto keys = keys_.get();
  const AdminKeys::Entry* const key = keys->find(before.digest);
  if (key == nullptr || key->name != before.name) return std::nullopt;
  return KeyHolder{key->name, before.digest, key->role};
}

bool AdminAuth::knows(const KeyHolder& holder) const {
  const auto keys = keys_.get();
  const AdminKeys::Entry* const key = keys->find(holder.digest);
  return holder.is_vouched_for || (key != nullptr && key->name == holder.name);
}

// Keys may have changed since the visitor was let in: they are looked at when those who change them can see this.
AdminAuth::KeyLease::KeyLease(AdminAuth& auth, KeyHolder holder, End end)
    : auth_(auth), holder_(std::move(holder)), end_(std::move(end)) {
  const std::lock_guard lock(auth_.mutex_);
  place_ = auth_.leases_.insert(auth_.leases_.end(), this);
  if (!auth_.knows(holder_)) end_();
}

AdminAuth::KeyLease::~KeyLease() {
  const std::lock_guard lock(auth_.mutex_);
  auth_.leases_.erase(place_);
}

}  // namespace proteus::admin
