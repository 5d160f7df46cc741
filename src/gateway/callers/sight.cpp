#include "gateway/callers/sight.hpp"

#include <fmt/format.h>

#include "gateway/callers/principal.hpp"
#include "gateway/upstreams/local_provider.hpp"

namespace proteus::gateway {

Sight::Sight(const server::Caller& caller, std::shared_ptr<const Outlook> outlook,
             std::shared_ptr<const OwnLists::Snapshots> alone)
    : caller_(caller),
      outlook_(std::move(outlook)),
      alone_(std::move(alone)),
      fingerprint_(principal_of(caller).access().fingerprint()) {
  const Principal& principal = principal_of(caller);
  if (principal.own()) own_ = principal.own()->snapshot();
  if (!own_ && !outlook_ && !alone_) return;
  composed_ = fingerprint_;
  if (outlook_) {
    composed_ += '\n';
    composed_ += outlook_->fingerprint;
  }
  if (own_) composed_ += fmt::format("\n{}\n{}", own_->upstream().value(), own_->version());
  if (alone_) {
    for (const auto& snapshot : *alone_)
      composed_ += fmt::format("\nalone {}", snapshot->version());
  }
  fingerprint_ = composed_;
}

catalog::Layers Sight::layers() const {
  catalog::Layers layers;
  layers.access = principal_of(caller_).access();
  layers.context = caller_.context;
  layers.personal = own_ != nullptr || alone_ != nullptr || (outlook_ && outlook_->personal);
  if (outlook_) layers.lens = outlook_->lens;
  if (own_) layers.front.push_back(layers.lens ? layers.lens->through(own_) : own_);
  if (outlook_ && outlook_->guide) layers.front.push_back(outlook_->guide->snapshot());
  if (alone_) {
    for (const auto& snapshot : *alone_) {
      if (layers.access.allows(snapshot->upstream()))
        layers.front.push_back(layers.lens ? layers.lens->through(snapshot) : snapshot);
    }
  }
  return layers;
}

}  // namespace proteus::gateway
