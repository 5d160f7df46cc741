#pragma once

#include "app/config/config.hpp"
#include "catalog/contexts/manifest.hpp"

namespace proteus::app {

// Returns the manifests that contexts are served with. A broken context or schema keeps its previous manifest. A broken
// context that was not served before gets the filters that could be read, and no texts. `before` is null at start-up.
catalog::Manifests served_manifests(const Config& config, const catalog::Manifests* before);

}  // namespace proteus::app
