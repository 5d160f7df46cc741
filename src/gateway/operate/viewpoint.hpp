#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "gateway/core/gateway.hpp"

namespace proteus::gateway {

// A caller in a context, without a request: it determines what that caller would see. Made from what serves requests.
// Does not include what a legacy upstream shows in a single session.
struct Viewpoint {
  server::Caller caller;
  std::shared_ptr<const ContextView> context_view;  // null if there are no contexts
  std::shared_ptr<const catalog::View> view;
  std::shared_ptr<const UpstreamTable> upstreams;

  const Principal& principal() const { return principal_of(caller); }
  // Returns the upstreams that are listed live, which may show the caller more than the view has.
  std::vector<std::string> listed_live() const;
  // Returns whether the caller finds tools by searching. Such a caller may use everything in the view, but is listed
  // less.
  bool searches() const;
  // Returns the caller's view of another catalog.
  std::shared_ptr<const catalog::View> look_at(catalog::CatalogState::Pointer state) const;
};

// Whose view to take: the name of a principal of the configuration or of a token made at runtime, or the claims of an
// identity provider's token as a JSON object. The empty name means callers without a token; nothing means a caller who
// may use everything.
using Whom = std::optional<std::string>;

// Thread-safe. Fails if no principal has the name, or if no rule fits the claims.
Result<std::shared_ptr<const Principal>> find_whom(Gateway& gateway, const Whom& whom);

// Thread-safe. `principal` need not be known to the gateway. Fails if it may not enter the context.
Result<Viewpoint> look_as(Gateway& gateway, std::shared_ptr<const Principal> principal, std::string_view context);
// Thread-safe. Fails if there is no such principal, or if it may not enter the context.
Result<Viewpoint> look_as(Gateway& gateway, const Whom& whom, std::string_view context);

}  // namespace proteus::gateway
