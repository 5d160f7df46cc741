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

// The destination of a request: an upstream or a local provider, and the entry's name there.
struct Route {
  ServedUpstream upstream;  // empty if a local provider answers
  std::string own;          // name at the upstream
  catalog::Found found;     // the entry in `view`, if the catalog has it
  std::shared_ptr<const catalog::View> view;
  std::shared_ptr<LocalProvider> local;                    // set if a local provider answers
  catalog::Kind kind = catalog::Kind::tool;                // of the requested entry
  std::shared_ptr<const catalog::ShapedTool> shaped = {};  // null if the tool is called as it is
  bool read_only = false;                                  // the tool declares itself read-only; false if not looked up
  // For a tool that is listed live: the parameters that the upstream wants mirrored in headers, if looked up.
  std::shared_ptr<const std::vector<mcp::MirroredParameter>> mirrored = {};
};

// Returns the facts of the upstream's legacy side if a legacy session uses the entry there: if the legacy side has it,
// if only this session is shown it, or if lists are live. Returns null if the entry is used in the modern era.
std::shared_ptr<const client::ServerFacts> legacy_facts(const Route& route);

// The entry that a request asks for. The name views the request, or `decoded` of `wanted_by`.
struct Wanted {
  catalog::Kind kind = catalog::Kind::tool;
  std::string_view name;
  bool as_listed = false;  // whether only listed entries count, with what they declare
};

// Returns the entry that a call, read, prompt or completion asks for.
Result<Wanted> wanted_by(const mcp::Request& request, std::string& decoded);

// Whether a caller may see an entry that an upstream has listed to it live.
bool is_shown(const catalog::View& view, catalog::Kind kind, const ListedNames::Entry& entry,
              const catalog::NameRules& rules);

// The lists that must be read before the route is known.
struct UnreadLists {
  catalog::Kind kind = catalog::Kind::tool;
  std::vector<ServedUpstream> upstreams;
};

// Finds the one upstream that a request goes to: the first in the configured order that lists the entry to this caller,
// and so the one whose definition the caller sees. A pure function of its arguments, so that the route does not depend
// on which lists were remembered.
//
// Entries in the catalog need no list. A live upstream is a candidate if its prefix fits the name. A single candidate
// gets the request without its list, unless only the list tells the own name or whether the caller may use the entry.
// Among several candidates `lists` decides, and the result may be that lists must be read first. An upstream whose list
// could not be read gets nothing. An entry that the view does not show is not found, whether it exists or not; the
// error is that of the method.
//
// `guide` answers for contexts; null if there are none.
Result<std::variant<Route, UnreadLists>> find_route(const Wanted& wanted, const server::Caller& caller,
                                                    std::shared_ptr<const catalog::View> view,
                                                    const UpstreamTable& upstreams,
                                                    const std::shared_ptr<LocalProvider>& guide, CallerLists& lists);

}  // namespace proteus::gateway
