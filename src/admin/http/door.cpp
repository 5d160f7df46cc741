#include "admin/http/door.hpp"

#include <utility>

namespace proteus::admin {

void Door::set_keys(AdminKeys keys) {
  keys_.set(std::make_shared<const AdminKeys>(std::move(keys)));
  const std::lock_guard lock(mutex_);
  for (const Stay* stay : stays_) {
    if (!knows(stay->visitor_)) stay->end_();
  }
}

std::optional<Door::Visitor> Door::admit(std::string_view secret) const {
  const json::Digest digest = AdminKeys::digest(secret);
  const auto keys = keys_.get();
  const std::string* name = keys->find(digest);
  if (name == nullptr) return std::nullopt;
  return Visitor{*name, digest};
}

bool Door::knows(const Visitor& visitor) const {
  const auto keys = keys_.get();
  const std::string* name = keys->find(visitor.digest);
  return name != nullptr && *name == visitor.name;
}

// Keys may have changed since the visitor was let in: they are looked at when those who change them can see this.
Door::Stay::Stay(Door& door, Visitor visitor, End end)
    : door_(door), visitor_(std::move(visitor)), end_(std::move(end)) {
  const std::lock_guard lock(door_.mutex_);
  place_ = door_.stays_.insert(door_.stays_.end(), this);
  if (!door_.knows(visitor_)) end_();
}

Door::Stay::~Stay() {
  const std::lock_guard lock(door_.mutex_);
  door_.stays_.erase(place_);
}

}  // namespace proteus::admin
