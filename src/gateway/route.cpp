#include "gateway/route.hpp"

#include "gateway/completion_reference.hpp"
#include "gateway/local_provider.hpp"
#include "gateway/principal.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

struct Wanted {
  Kind kind = Kind::tool;
  std::string_view name;
};

// The name is the request's own, or lies in `decoded`.
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

Error unknown(const Wanted& wanted) {
  switch (wanted.kind) {
    case Kind::tool: return mcp::errors::unknown_tool(wanted.name);
    case Kind::prompt: return mcp::errors::unknown_prompt(wanted.name);
    case Kind::resource:
    case Kind::resource_template: break;
  }
  return mcp::errors::resource_not_found(wanted.name);
}

catalog::Found find(const catalog::View& view, const Wanted& wanted) {
  auto found = view.find(wanted.kind, wanted.name);
  if (found || wanted.kind == Kind::tool || wanted.kind == Kind::prompt) return found;
  if (wanted.kind == Kind::resource) return view.match_template(wanted.name);
  return view.find(Kind::resource, wanted.name);
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

// By rank, up to one that is before.
const ServedUpstream* find_live(const UpstreamTable& upstreams, const catalog::View& view, const Wanted& wanted,
                                const catalog::Snapshot* before, std::string& own) {
  // Whoever answers within the process stands in front of all upstreams.
  if (before != nullptr && upstreams.find(before->upstream().value()) == nullptr) return nullptr;
  for (const ServedUpstream& served : upstreams.order) {
    if (before != nullptr && served->name() == before->upstream()) return nullptr;
    if (!served->is_direct() || !view.access().allows(served->name())) continue;
    const auto facts = served->facts();
    if (facts && !offers(*facts, wanted.kind)) continue;
    own = wanted.name;
    if (wanted.kind == Kind::tool || wanted.kind == Kind::prompt) {
      const std::string prefix = served->settings().effective_prefix();
      // Without a prefix every name could be meant: only what nobody else has is.
      if (prefix.empty() ? before != nullptr : !wanted.name.starts_with(prefix)) continue;
      own.erase(0, prefix.size());
    } else if (before != nullptr) {
      continue;
    }
    if (view.lens() != nullptr &&
        !view.lens()->admits(wanted.kind, {wanted.name, own, served->settings().effective_prefix()})) {
      continue;
    }
    if (served->pins() && !served->pins()->admits(wanted.kind, own)) continue;
    return &served;
  }
  return nullptr;
}

std::shared_ptr<LocalProvider> find_local(const server::Caller& caller, const UpstreamTable& upstreams,
                                          const std::shared_ptr<LocalProvider>& guide,
                                          const catalog::UpstreamName& name) {
  if (guide && guide->name() == name) return guide;
  const auto& own = principal_of(caller).own();
  return own && own->name() == name ? own : upstreams.find_local(name);
}

}  // namespace

Result<Route> find_route(const server::Call& call, std::shared_ptr<const catalog::View> view,
                         const UpstreamTable& upstreams, const std::shared_ptr<LocalProvider>& guide) {
  std::string decoded;
  const auto wanted = wanted_by(call.request(), decoded);
  if (!wanted) return std::unexpected(wanted.error());
  catalog::Found found = find(*view, *wanted);
  // A template may stand for more than is let in.
  const bool kept_out = found && wanted->kind == Kind::resource && found.definition->pattern != nullptr &&
                        view->lens() != nullptr && !view->lens()->admits(Kind::resource, {wanted->name, wanted->name});
  if (kept_out) found = {};
  if (upstreams.any_direct) {
    std::string own;
    if (const auto* live = find_live(upstreams, *view, *wanted, found.snapshot, own)) {
      return Route{*live, std::move(own), {}, std::move(view), {}, wanted->kind};
    }
  }
  if (!found) return std::unexpected(unknown(*wanted));
  const ServedUpstream* served = upstreams.find(found.snapshot->upstream().value());
  if (served == nullptr) {
    auto local = find_local(call.caller(), upstreams, guide, found.snapshot->upstream());
    if (!local) return std::unexpected(unknown(*wanted));
    return Route{{}, std::string(found.definition->own), found, std::move(view), std::move(local), wanted->kind};
  }
  // A URI that a template stands for is its own name.
  const bool by_template = wanted->kind == Kind::resource && found.definition->pattern != nullptr;
  return Route{*served,     std::string(by_template ? wanted->name : found.definition->own), found, std::move(view), {},
               wanted->kind};
}

}  // namespace proteus::gateway
