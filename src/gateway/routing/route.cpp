#include "gateway/routing/route.hpp"

#include <array>
#include <optional>

#include <boost/container/small_vector.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/principal.hpp"
#include "gateway/routing/completion_reference.hpp"
#include "gateway/upstreams/local_provider.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

Error unknown(const Wanted& wanted) {
  switch (wanted.kind) {
    case Kind::tool: return mcp::errors::unknown_tool(wanted.name);
    case Kind::prompt: return mcp::errors::unknown_prompt(wanted.name);
    case Kind::resource:
    case Kind::resource_template: break;
  }
  return mcp::errors::resource_not_found(wanted.name);
}

// How an entry is looked up in a list.
enum class By : std::uint8_t { shown_name, alias, pattern };
struct Way {
  Kind kind;
  By by;
};
// A match by the first way wins over any match by the second, whichever provider has it; see catalog::View::find.
using Ways = std::array<Way, 2>;

constexpr Ways ways_of(Kind kind) {
  switch (kind) {
    case Kind::resource: return {{{Kind::resource, By::shown_name}, {Kind::resource_template, By::pattern}}};
    case Kind::resource_template:
      return {{{Kind::resource_template, By::shown_name}, {Kind::resource, By::shown_name}}};
    case Kind::tool:
    case Kind::prompt: break;
  }
  return {{{kind, By::shown_name}, {kind, By::alias}}};
}

// Where the catalog has an entry.
struct Holder {
  catalog::Found found;
  std::size_t way = 0;
};

Holder find_in_catalog(const catalog::View& view, const Wanted& wanted) {
  const Ways ways = ways_of(wanted.kind);
  if (const auto found = view.find(wanted.kind, wanted.name)) {
    const bool aliased = ways[1].by == By::alias && found.definition->shown != wanted.name;
    return {found, aliased ? 1U : 0U};
  }
  if (ways[1].by == By::shown_name) return {view.find(ways[1].kind, wanted.name), 1};
  if (ways[1].by == By::alias) return {};
  const auto found = view.match_template(wanted.name);
  // A template may match URIs that the lens does not admit.
  const bool kept_out =
      found && view.lens() != nullptr && !view.lens()->admits(Kind::resource, {wanted.name, wanted.name});
  return kept_out ? Holder{} : Holder{found, 1};
}

bool offers(const client::ServerFacts& facts, Kind kind) {
  switch (kind) {
    case Kind::tool: return facts.offers.tools.offered;
    case Kind::prompt: return facts.offers.prompts.offered;
    case Kind::resource:
    case Kind::resource_template: break;
  }
  return facts.offers.resources.offered;
}

bool is_ratified(const ServedUpstream& served, Kind kind, std::string_view own) {
  return !served->pins() || served->pins()->admits(kind, own);
}

bool is_admitted(const ServedUpstream& served, const catalog::View& view, const Wanted& wanted, std::string_view own) {
  if (view.lens() != nullptr && !view.lens()->admits(wanted.kind, {wanted.name, own, served->rules().prefix})) {
    return false;
  }
  return is_ratified(served, wanted.kind, own);
}

// Returns the upstream's own name if it is certain without the upstream's list.
std::optional<std::string_view> own_without_list(const ServedUpstream& served, const Wanted& wanted) {
  if (!catalog::is_named(wanted.kind)) return wanted.name;
  if (!wanted.name.starts_with(served->rules().prefix)) return std::nullopt;
  return wanted.name.substr(served->rules().prefix.size());
}

bool names_are_portable(const ServedUpstream& served, const Wanted& wanted) {
  return catalog::is_named(wanted.kind) && served->rules().style == catalog::NameStyle::portable;
}

// Whether an operator may have renamed or hidden the tool, or changed how it is called.
bool is_shaped(const ServedUpstream& served, const Wanted& wanted) {
  return wanted.kind == Kind::tool && served->shapes_tools();
}

// Whether only the list tells if the caller may use the entry: access rules apply to shown names and to what a tool
// declares.
bool needs_list(const ServedUpstream& served, const catalog::View& view, const Wanted& wanted) {
  if (is_shaped(served, wanted) || wanted.as_listed) return true;
  const auto& entries = view.access().entries();
  if (!entries) return false;
  return entries->only_read_only(wanted.kind) || (names_are_portable(served, wanted) && entries->filters(wanted.kind));
}

// Whether only the list tells which headers to mirror: callers who search do not know the tool's annotations.
bool may_mirror(const ServedUpstream& served, const catalog::View& view, const Wanted& wanted) {
  return view.is_searched() && wanted.kind == Kind::tool && served->is_modern();
}

// Whether a live upstream may have an entry.
bool is_candidate(const ServedUpstream& served, const catalog::View& view, const Wanted& wanted) {
  if (!served->is_direct() || !catalog::may_show(wanted.kind, wanted.name, served->rules())) return false;
  if (!view.access().allows(served->name())) return false;
  const auto facts = served->facts();
  if (facts && !offers(*facts, wanted.kind)) return false;
  return names_are_portable(served, wanted) || is_shaped(served, wanted) ||
         is_admitted(served, view, wanted, own_without_list(served, wanted).value_or(wanted.name));
}

// Finds an entry in an upstream's list, if the caller may see it.
std::optional<ListedNames::Entry> find_listed(const ListedNames& names, Way way, const ServedUpstream& served,
                                              const catalog::View& view, const Wanted& wanted) {
  std::optional<ListedNames::Entry> entry;
  switch (way.by) {
    case By::shown_name: entry = names.find(wanted.name); break;
    case By::alias:
      if (names_are_portable(served, wanted)) entry = names.find_alias(wanted.name);
      break;
    case By::pattern: {
      const auto admits = [&](std::string_view text) { return is_admitted(served, view, {way.kind, text}, text); };
      if (names.has_template_for(wanted.name, admits)) entry = ListedNames::Entry{wanted.name, wanted.name};
      break;
    }
  }
  if (!entry || !is_shown(view, wanted.kind, *entry, served->rules())) return std::nullopt;
  return is_ratified(served, wanted.kind, entry->own) ? entry : std::nullopt;
}

// Agents learn only the name of a failed upstream and the kind of failure.
Error undecided(const Wanted& wanted, const ServedUpstream& served, ErrorKind why) {
  return errors::unreachable(fmt::format("upstream {} cannot say whether {} is its own: its lists cannot be read ({})",
                                         served->settings().name, log::printable(wanted.name, 200), to_string(why)));
}

std::shared_ptr<LocalProvider> find_local(const server::Caller& caller, const UpstreamTable& upstreams,
                                          const std::shared_ptr<LocalProvider>& guide,
                                          const catalog::UpstreamName& name) {
  if (guide && guide->name() == name) return guide;
  const auto& own = principal_of(caller).own();
  return own && own->name() == name ? own : upstreams.find_local(name);
}

// The upstreams that may get a request. Must not outlive its arguments.
class Candidates {
 public:
  Candidates(const Wanted& wanted, const catalog::View& view, const UpstreamTable& upstreams)
      : wanted_(wanted), view_(view), holder_(find_in_catalog(view, wanted)) {
    if (upstreams.any_direct) find_live(upstreams);
  }

  const catalog::Found& in_catalog() const { return holder_.found; }
  const ServedUpstream* only_live() const { return live_.size() == 1 && !holder_.found ? live_.front() : nullptr; }
  bool catalog_only() const { return live_.empty(); }

  struct Listed {
    const ServedUpstream* upstream = nullptr;  // null: the one in the catalog, or none
    std::string_view own = {};                 // lives as long as the lists
    const catalog::ShapedTool* shaped = nullptr;
    bool read_only = false;
    std::shared_ptr<const std::vector<mcp::MirroredParameter>> mirrored = {};
  };
  // Returns the first upstream that lists the entry, or the lists that must be read first.
  Result<std::variant<Listed, UnreadLists>> decide(CallerLists& lists) const {
    const ServedUpstream* unreadable = nullptr;
    ErrorKind why = ErrorKind::internal;
    const Ways ways = ways_of(wanted_.kind);
    for (std::size_t way = 0; way < ways.size(); ++way) {
      UnreadLists unread{ways[way].kind, {}};
      std::optional<Listed> listed;
      const bool holds = holder_.found && holder_.way == way;
      for (std::size_t i = 0; i < live_.size() && !(holds && i == holder_at_) && !listed; ++i) {
        const auto known = lists.find(*live_[i], ways[way].kind);
        switch (known.state) {
          case CallerLists::Known::State::unread: unread.upstreams.push_back(*live_[i]); break;
          case CallerLists::Known::State::unreadable:
            if (unreadable == nullptr) why = known.why;
            if (unreadable == nullptr) unreadable = live_[i];
            break;
          case CallerLists::Known::State::read:
            if (const auto entry = find_listed(*known.names, ways[way], *live_[i], view_, wanted_)) {
              listed = Listed{live_[i], entry->own, entry->shaped, entry->read_only, entry->mirrored};
            }
            break;
        }
      }
      if (!unread.upstreams.empty()) return unread;
      if (listed) return *listed;
      if (holds) return Listed{};
    }
    const bool counts = only_live() == nullptr || needs_list(*only_live(), view_, wanted_);
    if (unreadable != nullptr && counts) return std::unexpected(undecided(wanted_, *unreadable, why));
    return Listed{};
  }

 private:
  // Local providers, and entries for this caller alone, come before all upstreams.
  void find_live(const UpstreamTable& upstreams) {
    const catalog::Snapshot* const holder = holder_.found.snapshot;
    const bool in_front = holder != nullptr && view_.place_of(holder_.found) < catalog::View::kMaxFront;
    const bool within = holder != nullptr && upstreams.find(holder->upstream().value()) == nullptr;
    const bool settled = holder != nullptr && holder_.way == 0;
    if (settled && (in_front || within)) return;
    for (const ServedUpstream& served : upstreams.order) {
      if (holder != nullptr && !in_front && served->name() == holder->upstream()) {
        holder_at_ = live_.size();
        if (settled) return;
      }
      if (is_candidate(served, view_, wanted_)) live_.push_back(&served);
    }
  }

  const Wanted& wanted_;
  const catalog::View& view_;
  Holder holder_;
  std::size_t holder_at_ = 0;  // index in `live_` at which the holder in the catalog comes
  boost::container::small_vector<const ServedUpstream*, 8> live_;  // in the configured order
};

Result<Route> route_in_catalog(const Wanted& wanted, catalog::Found found, const server::Caller& caller,
                               std::shared_ptr<const catalog::View> view, const UpstreamTable& upstreams,
                               const std::shared_ptr<LocalProvider>& guide) {
  if (!found) return std::unexpected(unknown(wanted));
  const ServedUpstream* served = upstreams.find(found.snapshot->upstream().value());
  if (served == nullptr) {
    auto local = find_local(caller, upstreams, guide, found.snapshot->upstream());
    if (!local) return std::unexpected(unknown(wanted));
    return Route{{}, std::string(found.definition->own), found, std::move(view), std::move(local), wanted.kind,
                 {}, found.definition->read_only};
  }
  // A URI that matches a template is its own name.
  const bool by_template = wanted.kind == Kind::resource && found.definition->pattern != nullptr;
  const catalog::ShapedTool* const shaped = found.definition->shaped;
  return Route{*served,
               std::string(by_template ? wanted.name : found.definition->own),
               found,
               std::move(view),
               {},
               wanted.kind,
               shaped != nullptr ? shaped->shared_from_this() : nullptr,
               found.definition->read_only};
}

}  // namespace

bool is_shown(const catalog::View& view, Kind kind, const ListedNames::Entry& entry, const catalog::NameRules& rules) {
  if (view.lens() == nullptr) return true;
  return (entry.read_only || !view.access().only_read_only(kind)) &&
         view.lens()->admits(kind, {entry.shown, entry.own, rules.prefix});
}

std::shared_ptr<const client::ServerFacts> legacy_facts(const Route& route) {
  const auto side = route.upstream->legacy_side();
  if (!side) return nullptr;
  // A live list of a session was read in that session, so its entries are used there.
  if (route.upstream->is_direct()) return side->facts;
  if (!route.found) return side->has(route.kind, route.own) ? side->facts : nullptr;
  // Entries in front of the catalog were listed in this session itself.
  const bool alone = route.view->place_of(route.found) < catalog::View::kMaxFront;
  const bool by_template = route.found.definition->pattern != nullptr;
  const bool there =
      by_template ? side->has(Kind::resource_template, route.found.definition->own) : side->has(route.kind, route.own);
  return alone || there ? side->facts : nullptr;
}

Result<Wanted> wanted_by(const mcp::Request& request, std::string& decoded) {
  switch (request.method->method) {
    case mcp::Method::tools_call: return Wanted{Kind::tool, request.name};
    case mcp::Method::prompts_get: return Wanted{Kind::prompt, request.name};
    case mcp::Method::resources_read: return Wanted{Kind::resource, request.name};
    case mcp::Method::complete: break;
    default: return std::unexpected(mcp::errors::method_not_found(request.method->name));
  }
  const auto reference = CompletionReference::of(request);
  if (!reference) return std::unexpected(reference.error());
  decoded = json::decode_string(reference->name).value();
  return Wanted{reference->kind, decoded};
}

Result<std::variant<Route, UnreadLists>> find_route(const Wanted& wanted, const server::Caller& caller,
                                                    std::shared_ptr<const catalog::View> view,
                                                    const UpstreamTable& upstreams,
                                                    const std::shared_ptr<LocalProvider>& guide, CallerLists& lists) {
  const Candidates candidates(wanted, *view, upstreams);
  const auto to_live = [&](const ServedUpstream& served, std::string_view own) {
    return Route{served, std::string(own), {}, view, {}, wanted.kind};
  };
  const ServedUpstream* const only = candidates.only_live();
  const auto certain = only != nullptr ? own_without_list(*only, wanted) : std::nullopt;
  const bool by_name = certain && !needs_list(*only, *view, wanted);
  if (by_name && !names_are_portable(*only, wanted) && !may_mirror(*only, *view, wanted))
    return to_live(*only, *certain);
  if (!candidates.catalog_only()) {
    auto decided = candidates.decide(lists);
    if (!decided) return std::unexpected(std::move(decided.error()));
    if (auto* unread = std::get_if<UnreadLists>(&*decided)) return std::move(*unread);
    const auto& listed = std::get<Candidates::Listed>(*decided);
    if (listed.upstream != nullptr) {
      Route route = to_live(*listed.upstream, listed.own);
      if (listed.shaped != nullptr) route.shaped = listed.shaped->shared_from_this();
      route.read_only = listed.read_only;
      route.mirrored = listed.mirrored;
      return route;
    }
    if (by_name && is_admitted(*only, *view, wanted, *certain)) return to_live(*only, *certain);
  }
  return route_in_catalog(wanted, candidates.in_catalog(), caller, std::move(view), upstreams, guide);
}

}  // namespace proteus::gateway
