#include "gateway/callers/access.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace proteus::gateway {

void Access::look_at(const catalog::SnapshotPointer& snapshot) const {
  if (contexts) contexts->look_at(snapshot);
  principals->look_at(snapshot);
  if (tokens) tokens->look_at(snapshot);
}

std::expected<server::Caller, std::string_view> Access::enter(std::shared_ptr<const Principal>&& principal,
                                                              std::string_view context) const {
  if (context.empty()) context = principal->home();
  if (!context.empty() && !(contexts && contexts->find(context))) return std::unexpected("there is none of that name");
  if (!principal->may_enter(context)) return std::unexpected("the principal may not enter it");
  server::Caller caller;
  caller.principal = principal->key();
  caller.context = context;
  if (principal->expires()) caller.until = *principal->expires();
  caller.grant = std::move(principal);
  return caller;
}

std::shared_ptr<const Principal> Access::find_name(std::string_view name) const {
  auto found = principals->find_name(name);
  return found || !tokens ? found : tokens->find_name(name);
}

Error Access::no_such_context(const Principal& principal) const {
  constexpr std::size_t kMostNamed = 8;
  if (principal.enters_all()) return errors::not_found("There is no such context");
  std::vector<std::string> open;
  if (principal.may_enter("")) open.emplace_back("/mcp");
  if (contexts) {
    for (const auto& [name, context] : contexts->all()) {
      if (open.size() < kMostNamed && principal.may_enter(name)) open.push_back("/mcp/" + name);
    }
  }
  if (open.empty()) return errors::not_found("There is no such context, and none that this token may enter");
  return errors::not_found(
      fmt::format("There is no such context for this token; it may use {}", fmt::join(open, ", ")));
}

}  // namespace proteus::gateway
