#include "gateway/sight.hpp"

#include <fmt/format.h>

#include "gateway/local_provider.hpp"
#include "gateway/principal.hpp"

namespace proteus::gateway {

Sight::Sight(const server::Caller& caller)
    : caller_(caller), fingerprint_(principal_of(caller).access().fingerprint()) {
  const Principal& principal = principal_of(caller);
  if (!principal.own()) return;
  own_ = principal.own()->snapshot();
  if (!own_) return;
  composed_ = fmt::format("{}\n{}\n{}", fingerprint_, own_->upstream().value(), own_->version());
  fingerprint_ = composed_;
}

catalog::Layers Sight::layers() const {
  catalog::Layers layers;
  layers.access = principal_of(caller_).access();
  if (own_) layers.front.push_back(own_);
  return layers;
}

}  // namespace proteus::gateway
