#include "gateway/operate/preview.hpp"

#include <set>
#include <string_view>

namespace proteus::gateway {
namespace {

using catalog::Kind;

void add(std::vector<std::string>& names, std::size_t& count, std::string_view name) {
  ++count;
  if (names.size() < Preview::kMostNames) names.emplace_back(name);
}

// The names that the upstream has now or would have. The change affects no other names.
using NamesByKind = catalog::PerKind<std::set<std::string_view>>;

NamesByKind names_of(const catalog::SnapshotPointer& before, const catalog::SnapshotPointer& after) {
  NamesByKind names;
  for (const auto& snapshot : {before, after}) {
    if (!snapshot) continue;
    for (const Kind kind : catalog::kKinds) {
      for (const auto& definition : snapshot->list(kind).definitions())
        names[kind].insert(definition.shown);
    }
  }
  return names;
}

void compare(const catalog::View& before, const catalog::View& after, const NamesByKind& names, Affected& out) {
  for (const Kind kind : catalog::kKinds) {
    for (const std::string_view name : names[kind]) {
      const auto was = before.find(kind, name);
      const auto is = after.find(kind, name);
      if (!was && is) add(out.gains, out.gained, name);
      if (was && !is) add(out.loses, out.lost, name);
      if (was && is && was.definition->text != is.definition->text) add(out.changes, out.changed, name);
    }
  }
}

std::vector<std::string> contexts_of(Gateway& gateway) {
  std::vector<std::string> contexts = {""};
  if (const auto all = gateway.access()->contexts) {
    for (const auto& [name, context] : all->all())
      contexts.push_back(name);
  }
  return contexts;
}

// Begins with a caller who may use everything, because changes affect that caller most.
std::vector<Whom> everybody(Gateway& gateway) {
  const auto access = gateway.access();
  std::vector<Whom> all = {std::nullopt};
  if (access->principals->anonymous()) all.emplace_back("");
  std::set<std::string> names;
  for (const auto& one : access->principals->all())
    names.insert(one->name());
  if (access->tokens) {
    for (const auto& one : access->tokens->all())
      names.insert(one->name());
  }
  for (const auto& name : names)
    all.emplace_back(name);
  return all;
}

}  // namespace

Preview preview(Gateway& gateway, const catalog::UpstreamName& upstream, catalog::SnapshotPointer offered) {
  Preview out;
  const auto now = gateway.catalog().current();
  const auto rank = now->ranks().of(upstream);
  if (!rank) return out;
  const catalog::SnapshotPointer before = now->find(upstream);
  catalog::StateEditor editor(*now);
  editor.put(*rank, offered);
  const catalog::CatalogState::Pointer then = editor.take();
  const NamesByKind names = names_of(before, offered);
  const auto contexts = contexts_of(gateway);
  for (const Whom& whom : everybody(gateway)) {
    for (const std::string& context : contexts) {
      const auto at = look_as(gateway, whom, context);
      if (!at) continue;
      if (out.looks == Preview::kMostLooks) {
        out.is_whole = false;
        return out;
      }
      ++out.looks;
      Affected affected{.whom = whom, .context = context};
      compare(*at->look_at(now), *at->look_at(then), names, affected);
      if (affected.gained + affected.lost + affected.changed > 0) out.affected.push_back(std::move(affected));
    }
  }
  return out;
}

Preview preview(Gateway& gateway, const std::shared_ptr<const Principal>& newcomer) {
  Preview out;
  for (const std::string& context : contexts_of(gateway)) {
    const auto at = look_as(gateway, newcomer, context);
    if (!at) continue;
    if (out.looks == Preview::kMostLooks) {
      out.is_whole = false;
      break;
    }
    ++out.looks;
    Affected affected{.whom = newcomer->name(), .context = context};
    for (const Kind kind : catalog::kKinds) {
      for (const auto& part : at->view->parts(kind)) {
        const auto& list = part.snapshot->list(kind);
        for (std::uint32_t index = 0; index < list.size(); ++index) {
          if (!std::ranges::binary_search(part.lost, index)) add(affected.gains, affected.gained, list[index].shown);
        }
      }
    }
    out.affected.push_back(std::move(affected));
  }
  return out;
}

}  // namespace proteus::gateway
