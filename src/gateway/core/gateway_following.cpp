// Which resources the gateway follows at which upstreams, for the clients that follow them here.
#include <map>
#include <set>

#include <boost/asio/post.hpp>

#include "gateway/core/gateway.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

void Gateway::follow(const std::string& uri, bool followed) {
  asio::post(control(), [this, uri, followed] {
    if (followed) {
      followed_.try_emplace(uri);
    } else {
      followed_.erase(uri);
    }
    share_followed_soon();
  });
}

void Gateway::follow_at(const std::string& uri, const catalog::UpstreamName& upstream) {
  asio::post(control(), [this, uri, upstream] {
    const auto found = followed_.find(uri);
    if (found != followed_.end() && found->second.insert(upstream).second) share_followed_soon();
  });
}

// Many come at once when a session ends, or when upstreams have been read.
void Gateway::share_followed_soon() {
  if (std::exchange(sharing_followed_, true)) return;
  asio::post(control(), [this] {
    sharing_followed_ = false;
    share_followed();
  });
}

// Each resource is followed at the upstreams that clients may read it from. Of many upstreams few are concerned.
void Gateway::share_followed() {
  const auto table = tables_.get();
  std::map<std::string, std::set<std::string>> by_upstream;
  const catalog::View view(catalog_.current());
  catalog::View::TemplateBudget budget;
  for (const auto& [uri, routed_to] : followed_) {
    const std::uint32_t hash = catalog::name_hash(uri);
    bool found = false;
    for (const auto entry : view.state().holders(catalog::Kind::resource, hash)) {
      const auto* const snapshot = view.state().at(catalog::NameIndex::unpack(entry).rank);
      if (snapshot == nullptr || snapshot->list(catalog::Kind::resource).find(uri, hash) == nullptr) continue;
      by_upstream[snapshot->upstream().value()].insert(uri);
      found = true;
    }
    const auto by_template = found ? catalog::Found{} : view.match_template(uri, budget);
    if (by_template) by_upstream[by_template.snapshot->upstream().value()].insert(uri);
    // Who has a resource that is listed live was found out for each of those who follow it.
    for (const auto& upstream : routed_to) {
      const ServedUpstream* const served = table->find(upstream.value());
      if (served != nullptr && (*served)->is_direct()) by_upstream[upstream.value()].insert(uri);
    }
  }
  for (const auto& name : std::exchange(follows_at_, {}))
    by_upstream.try_emplace(name);
  for (auto& [name, uris] : by_upstream) {
    const ServedUpstream* const served = table->find(name);
    if (served == nullptr) continue;
    if (!uris.empty()) follows_at_.insert(name);
    (*served)->follow(std::move(uris));
  }
}

}  // namespace proteus::gateway
