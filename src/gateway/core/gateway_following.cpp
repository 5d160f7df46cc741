// Follows resources at upstreams for the clients that follow them here.
#include <boost/asio/post.hpp>

#include "gateway/core/gateway.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

void Gateway::follow(const std::string& uri, bool followed) {
  asio::post(control(), [this, uri, followed] {
    if (followed) {
      followed_.follow(uri, *catalog_.current());
    } else {
      followed_.unfollow(uri);
    }
    share_followed_soon();
  });
}

void Gateway::follow_at(const std::string& uri, const catalog::UpstreamName& upstream) {
  asio::post(control(), [this, uri, upstream] {
    followed_.add_route(uri, upstream.value());
    share_followed_soon();
  });
}

// Combines changes: many come at once when a session ends, and when upstreams publish their lists at the start.
void Gateway::share_followed_soon() {
  if (std::exchange(sharing_followed_, true)) return;
  asio::post(control(), [this] {
    sharing_followed_ = false;
    share_followed();
  });
}

void Gateway::share_followed() {
  if (std::exchange(look_, false)) followed_.look_at(*catalog_.current());
  const auto table = tables_.get();
  for (auto& [name, uris] : followed_.take_changed()) {
    if (const ServedUpstream* const served = table->find(name)) (*served)->follow(std::move(uris));
  }
}

void Gateway::look_for_followed() {
  look_ = true;
  share_followed_soon();
}

}  // namespace proteus::gateway
