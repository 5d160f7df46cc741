#include "gateway/callers/view_spec.hpp"

#include <fmt/format.h>

#include "gateway/callers/principal.hpp"
#include "gateway/callers/search_definitions.hpp"
#include "gateway/upstreams/local_provider.hpp"

namespace proteus::gateway {

bool is_to_search(const Principal& principal, const ContextView* context_view) {
  using catalog::Disclosure;
  if (context_view != nullptr && context_view->gone) return false;
  if (principal.permissions().disclosure() == Disclosure::search) return true;
  return context_view != nullptr && context_view->lens &&
         context_view->lens->context().manifest().disclosure == Disclosure::search;
}

ViewSpec::ViewSpec(const server::Caller& caller, std::shared_ptr<const ContextView> context_view,
                   std::shared_ptr<const OwnLists::Snapshots> alone, ViewFor purpose)
    : caller_(caller),
      context_view_(std::move(context_view)),
      alone_(std::move(alone)),
      searches_(is_to_search(principal_of(caller), context_view_.get())),
      purpose_(purpose),
      fingerprint_(principal_of(caller).access().fingerprint()) {
  const Principal& principal = principal_of(caller);
  if (principal.own()) own_ = principal.own()->snapshot();
  if (!own_ && !context_view_ && !alone_ && !searches_) return;
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
  if (searches_) composed_ += purpose_ == ViewFor::list ? "\nlisted" : "\nsearched";
  fingerprint_ = composed_;
}

std::shared_ptr<const catalog::Lens> ViewSpec::lens() const {
  const std::shared_ptr<const catalog::ContextLens> lens = context_view_ ? context_view_->lens : nullptr;
  if (!searches_ || purpose_ == ViewFor::use) return lens;
  if (lens) return {lens, &lens->listed()};
  return principal_of(caller_).permissions().listed();
}

catalog::Layers ViewSpec::layers() const {
  catalog::Layers layers;
  layers.context = caller_.context;
  if (context_view_ && context_view_->gone) {
    layers.access = catalog::Access::only({});
    layers.personal = true;
    return layers;
  }
  layers.access = principal_of(caller_).access();
  layers.personal = own_ != nullptr || alone_ != nullptr || (context_view_ && context_view_->personal);
  layers.lens = lens();
  layers.searched = searches_;
  const auto seen = [](const auto& lens, catalog::SnapshotPointer snapshot) {
    return lens ? lens->through(snapshot) : std::move(snapshot);
  };
  const auto& entries = layers.access.entries();
  // Neither access rules nor the lens apply to the gateway's own search tools. Access rules do not apply to a session's
  // own tools, and the lens does not apply to what contexts say of themselves.
  if (searches_) layers.front.push_back(search_definitions());
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
