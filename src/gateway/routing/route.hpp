#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/shape/shaped_tool.hpp"
#include "catalog/view/view.hpp"
#include "gateway/routing/caller_lists.hpp"
#include "gateway/upstreams/upstreams.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Who answers a request, and by which name.
struct Route {
  ServedUpstream upstream;  // empty where it is answered within the process
  std::string own;          // at the upstream
  catalog::Found found;     // where it is in the view, and lives as long
  std::shared_ptr<const catalog::View> view;
  std::shared_ptr<LocalProvider> local;                    // who answers then
  catalog::Kind kind = catalog::Kind::tool;                // of what is asked for
  std::shared_ptr<const catalog::ShapedTool> shaped = {};  // null where it is called as it is
  bool read_only = false;  // a tool that declares to change nothing, where that was looked for
  // Of a tool that is listed live: what the upstream wants mirrored in headers, where that was looked for.
  std::shared_ptr<const std::vector<mcp::MirroredParameter>> mirrored = {};
};

// How a session of the legacy era reaches it at an upstream that speaks both: what the legacy side is, where that has
// the entry, this session alone is shown it, or lists are live. Null where it is asked for in the modern era.
std::shared_ptr<const client::ServerFacts> legacy_facts(const Route& route);

// What a request asks for. The name is the request's own, or lies in `decoded` of `wanted_by`.
struct Wanted {
  catalog::Kind kind = catalog::Kind::tool;
  std::string_view name;
  bool as_listed = false;  // whether only what is listed counts, and what it declares
};

// Of a call, a read, a prompt or a completion.
Result<Wanted> wanted_by(const mcp::Request& request, std::string& decoded);

// Whether a caller is shown what an upstream has listed to it live.
bool is_shown(const catalog::View& view, catalog::Kind kind, const ListedNames::Entry& entry,
              const catalog::NameRules& rules);

// The lists that must be read before a route can be told.
struct UnreadLists {
  catalog::Kind kind = catalog::Kind::tool;
  std::vector<ServedUpstream> upstreams;
};

// Finds the one upstream that a request goes to: the first in the order of configuration that lists the entry to this
// caller, which is also the one whose definition the caller is shown. A pure function of what it is given, so that the
// route does not depend on what was remembered.
//
// What is in the catalog needs no asking. An upstream that is listed live is a candidate for what its prefix fits.
// Where it is the only one, it gets the request without being asked for a list first; where there are several
// candidates, `lists` decides, and the result may be that some have to be read. One whose list could not be read gets
// nothing. What the view does not show is not found, whether it exists or not; the error is the one the method has for
// that. Where only a list tells whether the caller may use it, the list is read first.
//
// `guide` answers for contexts; null where there are none.
Result<std::variant<Route, UnreadLists>> find_route(const Wanted& wanted, const server::Caller& caller,
                                                    std::shared_ptr<const catalog::View> view,
                                                    const UpstreamTable& upstreams,
                                                    const std::shared_ptr<LocalProvider>& guide, CallerLists& lists);

}  // namespace proteus::gateway
