#include "gateway/callers/context_review.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::gateway {

std::vector<std::string> context_warnings(const catalog::Context& context, const catalog::CatalogState& state,
                                          const UpstreamTable& upstreams) {
  std::vector<std::string> warnings;
  if (!context.manifest().fault.empty()) warnings.push_back(context.manifest().fault);
  std::set<std::string, std::less<>> unknown;
  for (const auto& [tool, text] : context.manifest().tool_supplements)
    unknown.insert(tool);
  for (std::uint32_t rank = 0; rank < state.places() && !unknown.empty(); ++rank) {
    if (state.at(rank) == nullptr) continue;
    const auto& list = state.at(rank)->list(catalog::Kind::tool);
    for (const auto& tool : list.definitions()) {
      std::erase_if(unknown, [&](const auto& name) {
        return catalog::Names{tool.shown, tool.own, list.rules().prefix}.include(name);
      });
    }
  }
  std::string live;
  for (const ServedUpstream& served : upstreams.order) {
    if (served->is_direct()) live += fmt::format("{}{}", live.empty() ? "" : ", ", served->settings().name);
  }
  for (const auto& name : unknown) {
    std::string warning =
        fmt::format("there is a supplement for {}, and no tool of that name is known", log::printable(name, 256));
    if (!live.empty()) warning += fmt::format("; what is listed live may have it: {}", live);
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace proteus::gateway
