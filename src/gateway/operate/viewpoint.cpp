#include "gateway/operate/viewpoint.hpp"

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/view_spec.hpp"

namespace proteus::gateway {
namespace {

std::shared_ptr<const Principal> who_may_use_everything() {
  const std::vector<std::string> all = {"*"};
  return std::make_shared<const Principal>(
      Principal::Parts{.name = {}, .permissions = std::make_shared<const Permissions>(catalog::Access::all(), all)});
}

}  // namespace

Result<std::shared_ptr<const Principal>> find_whom(Gateway& gateway, const Whom& whom) {
  if (!whom) return who_may_use_everything();
  const auto access = gateway.access();
  if (whom->empty()) {
    if (auto anonymous = access->principals->anonymous()) return anonymous;
    return std::unexpected(errors::not_found("callers without a token are refused"));
  }
  if (whom->starts_with('{')) return gateway.identities().imagine(*whom);
  if (auto found = access->find_name(*whom)) return found;
  return std::unexpected(errors::not_found(fmt::format("there is no principal {}", log::printable(*whom, 100))));
}

bool Viewpoint::searches() const { return is_to_search(principal(), context_view.get()); }

std::vector<std::string> Viewpoint::listed_live() const {
  std::vector<std::string> names;
  for (const auto& served : upstreams->order) {
    if (served->is_direct() && view->access().allows(served->name())) names.push_back(served->settings().name);
  }
  return names;
}

Result<Viewpoint> look_as(Gateway& gateway, const Whom& whom, std::string_view context) {
  auto principal = find_whom(gateway, whom);
  if (!principal) return std::unexpected(std::move(principal.error()));
  return look_as(gateway, std::move(*principal), context);
}

Result<Viewpoint> look_as(Gateway& gateway, std::shared_ptr<const Principal> principal, std::string_view context) {
  const auto access = gateway.access();
  auto caller = access->enter(std::move(principal), context);
  if (!caller) {
    return std::unexpected(
        errors::not_found(fmt::format("context {}: {}", log::printable(context, 100), caller.error())));
  }
  Viewpoint seen{.caller = std::move(*caller), .context_view = {}, .view = {}, .upstreams = gateway.upstreams()};
  seen.context_view = ContextViews().of(access->contexts, seen.caller);
  seen.view = seen.look_at(gateway.catalog().current());
  return seen;
}

std::shared_ptr<const catalog::View> Viewpoint::look_at(catalog::CatalogState::Pointer state) const {
  return std::make_shared<const catalog::View>(std::move(state), ViewSpec(caller, context_view).layers());
}

}  // namespace proteus::gateway
