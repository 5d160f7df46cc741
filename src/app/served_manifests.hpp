#pragma once

#include "app/config/config.hpp"
#include "catalog/manifest.hpp"

namespace proteus::app {

// The manifests that contexts are served by. One that is broken is served as it was before; where nothing was, as far
// as its patterns could be read, and without its texts. `before` is null at the start.
catalog::Manifests served_manifests(const Config& config, const catalog::Manifests* before);

}  // namespace proteus::app
