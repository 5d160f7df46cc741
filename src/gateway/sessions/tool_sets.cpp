#include "gateway/sessions/tool_sets.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "json/canonical.hpp"

namespace proteus::gateway {
namespace {

// Returns a version that was never used before: a later session may have the same id, and views are cached by name and
// version.
std::uint64_t next_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

Result<std::shared_ptr<const ToolSet>> ToolSets::make(const catalog::UpstreamName& of, std::vector<ToolOfSet> tools) {
  auto set = std::make_shared<ToolSet>();
  if (tools.empty()) return set;
  std::vector<std::string_view> texts;
  texts.reserve(tools.size());
  for (const auto& tool : tools)
    texts.emplace_back(tool.definition);
  auto list = catalog::DefinitionList::build(catalog::Kind::tool, texts, {}, {});
  if (!list) return std::unexpected(list.error());
  if ((*list)->omitted() > 0) {
    const auto& omission = (*list)->omissions().front();
    return std::unexpected(errors::invalid(fmt::format("the tool {}: {}", omission.name, omission.reason)));
  }
  catalog::Snapshot::Lists lists;
  lists[catalog::Kind::tool] = lists_.share(json::sha256((*list)->joined()), std::move(*list));
  set->snapshot = std::make_shared<const catalog::Snapshot>(of, next_version(), std::move(lists));
  set->tools.reserve(tools.size());
  for (auto& tool : tools)
    set->tools.push_back(std::move(tool.tool));
  std::ranges::sort(set->tools, {}, [](const auto& tool) -> const std::string& { return tool->name; });
  return set;
}

namespace {

ToolOfSet tool_of(const ToolSet& set, const providers::HttpToolPointer& tool) {
  const auto* shown = set.snapshot->list(catalog::Kind::tool).find(tool->name);
  return {tool, std::string(shown->text)};
}

}  // namespace

std::vector<ToolOfSet> with(const ToolSet& set, std::vector<ToolOfSet> others) {
  others.reserve(others.size() + set.tools.size());
  for (const auto& tool : set.tools) {
    const bool replaced =
        std::ranges::any_of(others, [&](const auto& other) { return other.tool->name == tool->name; });
    if (!replaced) others.push_back(tool_of(set, tool));
  }
  return others;
}

std::vector<ToolOfSet> without(const ToolSet& set, std::string_view name) {
  std::vector<ToolOfSet> rest;
  rest.reserve(set.tools.size());
  for (const auto& tool : set.tools) {
    if (tool->name != name) rest.push_back(tool_of(set, tool));
  }
  return rest;
}

}  // namespace proteus::gateway
