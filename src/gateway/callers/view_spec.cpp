#include "gateway/callers/view_spec.hpp"

#include <fmt/format.h>

#include "gateway/callers/principal.hpp"
#include "gateway/upstreams/local_provider.hpp"

namespace proteus::gateway {

ViewSpec::ViewSpec(const server::Caller& caller, std::shared_ptr<const ContextView> context_view,
                   std::shared_ptr<const OwnLists::Snapshots> alone)
    : caller_(caller),
      context_view_(std::move(context_view)),
      alone_(std::move(alone)),
      fingerprint_(principal_of(caller).access().fingerprint()) {
  const Principal& principal = principal_of(caller);
  if (principal.own()) own_ = principal.own()->snapshot();
  if (!own_ && !context_view_ && !alone_) return;
  composed_ = fingerprint_;
  if (context_view_) {
    composed_ += '\n';
    composed_ += context_view_->fingerprint;
  }
  if (own_) composed_ += fmt::format("\n{}\n{}", own_->upstream().value(), own_->version());
  if (alone_) {
    for (const auto& snapshot : *alone_)
      composed_ += fmt::format("\nalone {}", snapshot->version());
  }
  fingerprint_ = composed_;
}

catalog::Layers ViewSpec::layers() const {
  catalog::Layers layers;
  layers.access = principal_of(caller_).access();
  layers.context = caller_.context;
  layers.personal = own_ != nullptr || alone_ != nullptr || (context_view_ && context_view_->personal);
  if (context_view_) layers.lens = context_view_->lens;
  const auto seen = [](const auto& lens, catalog::SnapshotPointer snapshot) {
    return lens ? lens->through(snapshot) : std::move(snapshot);
  };
  const auto& entries = layers.access.entries();
  // What a session has of its own nobody else decides about; a context is the gateway's.
  if (own_) layers.front.push_back(seen(layers.lens, own_));
  if (context_view_ && context_view_->guide) layers.front.push_back(seen(entries, context_view_->guide->snapshot()));
  if (alone_) {
    for (const auto& snapshot : *alone_) {
      if (layers.access.allows(snapshot->upstream()))
        layers.front.push_back(seen(layers.lens, seen(entries, snapshot)));
    }
  }
  return layers;
}

}  // namespace proteus::gateway
