#include "server/core/session_places.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "mcp/over_limit.hpp"

namespace proteus::server {
namespace {

constexpr std::size_t kShares = 8;
constexpr std::size_t kReserves = 4;
// When to retry: sessions last for minutes.
constexpr std::chrono::seconds kLater{60};

}  // namespace

SessionPlaces::Place& SessionPlaces::Place::operator=(Place&& other) noexcept {
  if (this != &other) {
    reset();
    places_ = std::exchange(other.places_, nullptr);
    principal_ = std::move(other.principal_);
    id_ = std::move(other.id_);
  }
  return *this;
}

void SessionPlaces::Place::reset() {
  if (places_ != nullptr) std::exchange(places_, nullptr)->give_back(principal_, id_);
}

Result<SessionPlaces::Place> SessionPlaces::take(const std::string& principal, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  if (taken_ >= all_) {
    return std::unexpected(errors::exhausted(fmt::format("{} sessions are open, which is the limit", all_)));
  }
  const auto found = by_principal_.find(principal);
  const std::size_t own = found == by_principal_.end() ? 0 : found->second.size();
  if (principal.empty() && own >= all_ - reserve_) {
    return std::unexpected(
        errors::exhausted(fmt::format("{} sessions of anonymous callers are open, which is the limit", own)));
  }
  const bool has_share = !principal.empty() && own >= std::max<std::size_t>(all_ / kShares, 1);
  if (has_share && all_ - taken_ <= all_ / kReserves) {
    return std::unexpected(mcp::errors::over_limit(
        fmt::format("You have {} open sessions, which is the limit while others may need the rest; end some", own),
        kLater));
  }
  by_principal_[principal].insert(id);
  ++taken_;
  return Place(*this, principal, id);
}

std::size_t SessionPlaces::taken() const {
  const std::scoped_lock lock(mutex_);
  return taken_;
}

std::vector<std::string> SessionPlaces::ids_of(const std::string& principal) const {
  const std::scoped_lock lock(mutex_);
  const auto own = by_principal_.find(principal);
  if (own == by_principal_.end()) return {};
  return {own->second.begin(), own->second.end()};
}

void SessionPlaces::give_back(const std::string& principal, const std::string& id) {
  const std::scoped_lock lock(mutex_);
  const auto own = by_principal_.find(principal);
  own->second.erase(own->second.find(id));
  if (own->second.empty()) by_principal_.erase(own);
  --taken_;
}

}  // namespace proteus::server
