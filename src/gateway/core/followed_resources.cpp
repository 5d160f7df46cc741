#include "gateway/core/followed_resources.hpp"

#include <algorithm>
#include <utility>

#include "mcp/uri_pattern.hpp"

namespace proteus::gateway {
namespace {

// For all resources that the lists of an upstream lose at once.
constexpr std::size_t kStepsInAll = 10 * mcp::UriPattern::kSteps;

bool has_template_for(const catalog::CatalogState& state, const std::string& upstream, const std::string& uri,
                      std::size_t& steps) {
  const auto snapshot = state.find(catalog::UpstreamName(upstream));
  if (!snapshot || uri.size() > catalog::kLongestUri) return false;
  return std::ranges::any_of(
      snapshot->list(catalog::Kind::resource_template).definitions(),
      [&](const catalog::Definition& definition) { return definition.pattern->matches(uri, steps); });
}

}  // namespace

bool changes_resources(const catalog::Publication& publication) {
  return std::ranges::any_of(publication.changes, [](const catalog::Change& change) {
    const auto& resources = change.kinds[catalog::Kind::resource];
    return !resources.added.empty() || !resources.removed.empty();
  });
}

void FollowedResources::follow(const std::string& uri, const catalog::CatalogState& state) {
  const auto [place, first] = followed_.try_emplace(uri, Followed{catalog::name_hash(uri), {}});
  Steps none;
  if (first) look_at(*place, state, none);
}

void FollowedResources::unfollow(const std::string& uri) {
  const auto place = followed_.find(uri);
  if (place == followed_.end()) return;
  for (const auto& [upstream, because] : place->second.at)
    remove(upstream, uri);
  followed_.erase(place);
}

void FollowedResources::add_route(const std::string& uri, const std::string& upstream) {
  const auto place = followed_.find(uri);
  if (place == followed_.end()) return;
  // An upstream that lists the resource stays `listed`, so that `look_at` notices once it lists the resource no more.
  if (place->second.at.try_emplace(upstream, Because::routed).second) add(upstream, uri);
}

void FollowedResources::look_at(const catalog::CatalogState& state) {
  Steps steps;
  for (auto& place : followed_)
    look_at(place, state, steps);
}

void FollowedResources::look_at(Place& place, const catalog::CatalogState& state, Steps& steps) {
  auto& [uri, followed] = place;
  std::set<std::string> listing;
  for (const auto entry : state.holders(catalog::Kind::resource, followed.hash)) {
    const auto* const snapshot = state.at(catalog::NameIndex::unpack(entry).rank);
    if (snapshot == nullptr) continue;
    if (snapshot->list(catalog::Kind::resource).find(uri, followed.hash) == nullptr) continue;
    listing.insert(snapshot->upstream().value());
  }
  for (auto& [upstream, because] : followed.at) {
    if (because == Because::routed || listing.contains(upstream)) continue;
    if (has_template_for(state, upstream, uri, steps.try_emplace(upstream, kStepsInAll).first->second))
      because = Because::routed;
  }
  std::erase_if(followed.at, [&](const auto& entry) {
    const bool gone = entry.second == Because::listed && !listing.contains(entry.first);
    if (gone) remove(entry.first, uri);
    return gone;
  });
  for (const auto& upstream : listing) {
    if (followed.at.try_emplace(upstream, Because::listed).second) add(upstream, uri);
  }
}

void FollowedResources::upstreams_changed() {
  for (const auto& [upstream, uris] : at_)
    changed_.insert(upstream);
}

std::map<std::string, std::set<std::string>> FollowedResources::take_changed() {
  std::map<std::string, std::set<std::string>> changed;
  for (const auto& upstream : std::exchange(changed_, {})) {
    const auto found = at_.find(upstream);
    changed.emplace(upstream, found == at_.end() ? std::set<std::string>() : found->second);
  }
  return changed;
}

void FollowedResources::add(const std::string& upstream, const std::string& uri) {
  at_[upstream].insert(uri);
  changed_.insert(upstream);
}

void FollowedResources::remove(const std::string& upstream, const std::string& uri) {
  const auto found = at_.find(upstream);
  found->second.erase(uri);
  if (found->second.empty()) at_.erase(found);
  changed_.insert(upstream);
}

}  // namespace proteus::gateway
