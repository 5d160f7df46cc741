#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "gateway/core/gateway.hpp"

namespace proteus::gateway {

// Somebody at a part of the gateway who asks for nothing: what they would see is a function of this. It is made of what
// serves requests. What a legacy upstream shows in one session alone is not in it.
struct Viewpoint {
  server::Caller caller;
  std::shared_ptr<const ContextView> context_view;  // null where there are no contexts
  std::shared_ptr<const catalog::View> view;
  std::shared_ptr<const UpstreamTable> upstreams;

  const Principal& principal() const { return principal_of(caller); }
  // Upstreams that may show them more: they are listed live, and only they know what.
  std::vector<std::string> listed_live() const;
  // Whether they get to know tools by searching: they may use what they see here, and are listed less of it.
  bool searches() const;
  // The same of another catalog.
  std::shared_ptr<const catalog::View> look_at(catalog::CatalogState::Pointer state) const;
};

// Whom to look as: by name, of the configuration or of a token made at runtime; or the claims of a token of an identity
// provider, as a JSON object. The empty name is that of callers without a token. Nothing: somebody who may use
// everything.
using Whom = std::optional<std::string>;

// From any thread. Fails where there is nobody of that name, and where no rule fits the claims.
Result<std::shared_ptr<const Principal>> find_whom(Gateway& gateway, const Whom& whom);

// From any thread: the same for a principal that need not be there.
Result<Viewpoint> look_as(Gateway& gateway, std::shared_ptr<const Principal> principal, std::string_view context);
// From any thread. Fails where there is no such principal, and where they may not enter the context.
Result<Viewpoint> look_as(Gateway& gateway, const Whom& whom, std::string_view context);

}  // namespace proteus::gateway
