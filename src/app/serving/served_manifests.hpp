#pragma once

#include "app/config/config.hpp"
#include "catalog/contexts/manifest.hpp"

namespace proteus::app {

// The manifests that contexts are served by. A broken context or schema is served as it was before. A context that was
// not served before has the filters that could be read, and no texts. `before` is null at the start.
catalog::Manifests served_manifests(const Config& config, const catalog::Manifests* before);

}  // namespace proteus::app
