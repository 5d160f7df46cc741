#include "admin/http/admin_auth.hpp"

#include <utility>

namespace proteus::admin {

void AdminAuth::set_keys(AdminKeys keys) {
  keys_.set(std::make_shared<const AdminKeys>(std::move(keys)));
  end_withdrawn();
}

void AdminAuth::end_withdrawn() { end_expired(Clock::Wall::min()); }

void AdminAuth::end_expired(Clock::Wall now) {
  const std::lock_guard lock(mutex_);
  for (const KeyLease* lease : leases_) {
    if (lease->holder_.until <= now || !still_admits(lease->holder_)) lease->end_();
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

bool AdminAuth::still_admits(const KeyHolder& holder) const {
  if (!holder.session.empty() && has_ended_ && has_ended_(holder.session)) return false;
  return admit_again(holder).has_value();
}

// Registers first and then checks the access, so that a concurrent withdrawal cannot miss the lease.
AdminAuth::KeyLease::KeyLease(AdminAuth& auth, KeyHolder holder, End end)
    : auth_(auth), holder_(std::move(holder)), end_(std::move(end)) {
  const std::lock_guard lock(auth_.mutex_);
  place_ = auth_.leases_.insert(auth_.leases_.end(), this);
  if (!auth_.still_admits(holder_)) end_();
}

AdminAuth::KeyLease::~KeyLease() {
  const std::lock_guard lock(auth_.mutex_);
  auth_.leases_.erase(place_);
}

}  // namespace proteus::admin
