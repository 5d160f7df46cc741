#include "gateway/operate/why.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "catalog/contexts/contexts.hpp"
#include "gateway/operate/obstacles.hpp"
#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/request.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

// A route needs a request. Nothing in this one influences the route.
constexpr std::string_view kRequest =
    R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";

struct Routed {
  Visibility visibility = Visibility::not_seen;
  std::vector<std::string> asked = {};  // live upstreams, one of which may have the entry
  catalog::Found found = {};
};

Routed route_to(const Viewpoint& at, const Clock& clock, const Wanted& wanted) {
  const std::string text(kRequest);
  auto message = json::scan(text);
  const auto request = mcp::modern::decode(*message, {}, {});
  RememberedLists nothing(clock, {});
  CallerLists lists(nothing, {*request, at.caller});
  const auto guide = at.context_view ? at.context_view->guide : nullptr;
  const auto routed = find_route(wanted, at.caller, at.view, *at.upstreams, guide, lists);
  if (!routed) return {};
  if (const auto* unread = std::get_if<UnreadLists>(&*routed)) {
    Routed live{.visibility = Visibility::upstream_knows};
    for (const auto& served : unread->upstreams)
      live.asked.push_back(served->settings().name);
    return live;
  }
  const Route& found = std::get<Route>(*routed);
  if (found.found) return {.visibility = Visibility::seen, .found = found.found};
  return {.visibility = Visibility::upstream_knows, .asked = {found.upstream->settings().name}};
}

std::string description_of(std::string_view definition) {
  return json::decode_string(json::find_member(definition, "description")).value_or("");
}

// Returns what the upstream or the operator wrote, and what the context appends.
std::vector<DescriptionPart> parts_of(const Viewpoint& at, const catalog::Found& found) {
  const auto whole = at.view->state().find(found.snapshot->upstream());
  const catalog::Definition* const base =
      whole ? whole->list(Kind::tool).find(found.definition->shown) : found.definition;
  if (base == nullptr)
    return {{"upstream", found.snapshot->upstream().value(), description_of(found.definition->text)}};
  const auto* const served = at.upstreams->find(found.snapshot->upstream().value());
  const bool shaped = served != nullptr && (*served)->shapes_tools() && words_are_shaped(*served->upstream, base->own);
  std::vector<DescriptionPart> parts{
      {shaped ? "operator" : "upstream", found.snapshot->upstream().value(), description_of(base->text)}};
  if (!whole || !at.context_view || !at.context_view->lens) return parts;
  for (auto& part : catalog::ToolParts(*at.context_view->lens, whole->list(Kind::tool)).of(*base))
    parts.push_back({std::string(catalog::to_string(part.origin)), std::move(part.name), std::move(part.text)});
  return parts;
}

void describe(Why& answer, const Viewpoint& at, const catalog::Found& found, Kind kind) {
  answer.shown = found.definition->shown;
  answer.own = found.definition->own;
  answer.definition = found.definition->text;
  if (kind == Kind::tool) answer.parts = parts_of(at, found);
  const auto* const served = at.upstreams->find(found.snapshot->upstream().value());
  if (served == nullptr || !(*served)->required_scopes() || at.principal().scopes() == nullptr) return;
  answer.missing_scopes =
      catalog::missing_scopes((*served)->required_scopes()->of(kind, found.definition->own), *at.principal().scopes());
}

// Returns the finding that decides if nothing is seen: that of the upstream at which the entry got furthest.
Finding furthest(const std::vector<Finding>& findings, const Wanted& wanted) {
  const auto found = std::ranges::max_element(findings, {}, [](const Finding& one) {
    return std::pair(one.visibility == Visibility::not_seen, one.decided_by);
  });
  if (found != findings.end()) return *found;
  return {
      .upstream = {},
      .decided_by = Check::configured,
      .detail = fmt::format("no upstream is configured whose {}s may have this name", catalog::info(wanted.kind).word)};
}

}  // namespace

std::string_view to_string(Visibility visibility) {
  constexpr std::array<std::string_view, 3> kWords = {"seen", "not_seen", "upstream_knows"};
  return kWords.at(static_cast<std::size_t>(visibility));
}

std::string_view to_string(Check check) {
  constexpr std::array<std::string_view, 11> kWords = {"configured", "enabled",  "denied",     "connected",
                                                       "listed",     "omitted",  "unratified", "hidden",
                                                       "excluded",   "shadowed", "scope"};
  return kWords.at(static_cast<std::size_t>(check));
}

Why why(const Viewpoint& viewpoint, const RegisteredUpstreams& registered, const Clock& clock, const Wanted& wanted) {
  const Routed routed = route_to(viewpoint, clock, wanted);
  Why answer{.decisive = {}, .findings = find_obstacles(viewpoint, registered, wanted)};
  switch (routed.visibility) {
    case Visibility::seen: {
      describe(answer, viewpoint, routed.found, wanted.kind);
      const bool lacks_scopes = !answer.missing_scopes.empty();
      answer.decisive = {
          .upstream = routed.found.snapshot->upstream().value(),
          .visibility = Visibility::seen,
          .decided_by = lacks_scopes ? Check::scope : Check::listed,
          .detail = lacks_scopes ? fmt::format("a call needs more scopes: {}", fmt::join(answer.missing_scopes, " "))
                                 : "it is listed, and nothing keeps it from this caller"};
      break;
    }
    case Visibility::upstream_knows:
      answer.decisive = {
          .upstream = routed.asked.empty() ? "" : routed.asked.front(),
          .visibility = Visibility::upstream_knows,
          .decided_by = Check::listed,
          .detail = fmt::format("{} is listed live for each caller, and was not asked", fmt::join(routed.asked, ", "))};
      break;
    case Visibility::not_seen: answer.decisive = furthest(answer.findings, wanted); break;
  }
  return answer;
}

}  // namespace proteus::gateway
