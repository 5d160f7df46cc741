#include "catalog/contexts/contexts.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/canonical.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

// Limit for one list, so that long guidance for many tools cannot exhaust the memory.
constexpr std::size_t kMostAppended = std::size_t{64} << 20U;

std::string fingerprint_of(const Context& context, const std::vector<Sibling>& siblings) {
  std::string all = context.fingerprint();
  for (const Sibling& sibling : siblings)
    all += "\n" + sibling.name;
  return json::hex(json::sha256(all));
}

}  // namespace

ContextLens::ContextLens(std::shared_ptr<const Context> context, std::vector<Sibling> siblings)
    : context_(std::move(context)),
      siblings_(std::move(siblings)),
      fingerprint_(fingerprint_of(*context_, siblings_)),
      listed_(this, context_->manifest().always) {}

SnapshotPointer ContextLens::through(const SnapshotPointer& snapshot) const {
  return seen_.get(snapshot, [this](const DefinitionList::Pointer& list) { return through(list); });
}

DefinitionList::Pointer ContextLens::through(const DefinitionList::Pointer& list) const {
  const Kind kind = list->kind();
  if (kind != Kind::tool && !context_->filters(kind)) return list;
  const ToolParts parts(*this, *list);
  std::size_t appended = 0;
  auto seen = DefinitionList::derive(list, [&](const Definition& definition) -> DefinitionList::Face {
    const Names names{definition.shown, definition.own, list->rules().prefix};
    if (!admits(kind, names)) return {.kept = false};
    if (kind != Kind::tool) return {};
    std::string more;
    for (const Part& part : parts.of(definition)) {
      if (!more.empty()) more += "\n\n";
      more += part.text;
    }
    appended += more.size();
    if (more.empty() || appended > kMostAppended) return {};
    return {.text = append_to_description(definition.text, more)};
  });
  if (appended > kMostAppended) {
    log::warning("context {} appends more than {} bytes to the tools of one upstream; those beyond stay as they are",
                 context_->name(), kMostAppended);
  }
  return seen;
}

ToolParts::ToolParts(const ContextLens& lens, const DefinitionList& list)
    : lens_(lens), list_(list), chosen_(choose()) {}

const Definition* ToolParts::choose() const {
  if (lens_.siblings().empty() || list_.kind() != Kind::tool) return nullptr;
  const Definition* first = nullptr;
  const Definition* guided = nullptr;
  for (const Definition& tool : list_.definitions()) {
    const Names names = names_of(tool);
    if (!lens_.admits(Kind::tool, names)) continue;
    if (lens_.context().mentions_siblings(names)) return nullptr;
    const auto parts = lens_.context().parts(names);
    if (std::ranges::find(parts, PartOf::supplement, &Part::origin) != parts.end()) return &tool;
    if (guided == nullptr && !parts.empty()) guided = &tool;
    if (first == nullptr) first = &tool;
  }
  return guided != nullptr ? guided : first;
}

std::vector<Part> ToolParts::of(const Definition& tool) const {
  const Names names = names_of(tool);
  auto parts = lens_.context().parts(names);
  if (lens_.siblings().empty()) return parts;
  if (lens_.context().mentions_siblings(names).value_or(&tool == chosen_))
    parts.push_back({PartOf::siblings, {}, sibling_text(lens_.siblings())});
  return parts;
}

Contexts::Contexts(Manifests manifests, TypesOf types) : manifests_(std::move(manifests)), types_(std::move(types)) {
  for (const auto& [name, manifest] : manifests_.contexts)
    contexts_.emplace(name, std::make_shared<const Context>(name, manifests_, types_));
}

Contexts::Pointer Contexts::make(Manifests manifests, TypesOf types, const Contexts* previous) {
  const std::shared_ptr<Contexts> made(new Contexts(std::move(manifests), std::move(types)));
  if (previous != nullptr) {
    const std::scoped_lock lock(previous->mutex_);
    for (const auto& [fingerprint, lens] : previous->lenses_) {
      const auto same = made->contexts_.find(lens->context().name());
      const bool stays = same != made->contexts_.end() && same->second->fingerprint() == lens->context().fingerprint();
      if (stays) made->lenses_.emplace(fingerprint, lens);
    }
  }
  return made;
}

Contexts::Pointer Contexts::renewed() const { return make(manifests_, types_, this); }

std::shared_ptr<const Context> Contexts::find(std::string_view name) const {
  const auto found = contexts_.find(name);
  return found == contexts_.end() ? nullptr : found->second;
}

std::shared_ptr<const ContextLens> Contexts::lens(std::string_view name, const MayEnter& may_enter) const {
  auto context = find(name);
  if (!context) return nullptr;
  std::vector<Sibling> siblings;
  for (const Sibling& sibling : context->siblings()) {
    if (may_enter(sibling.name)) siblings.push_back(sibling);
  }
  const std::string fingerprint = fingerprint_of(*context, siblings);
  const std::scoped_lock lock(mutex_);
  auto& lens = lenses_[fingerprint];
  if (!lens) lens = std::make_shared<const ContextLens>(std::move(context), std::move(siblings));
  return lens;
}

void Contexts::look_at(const SnapshotPointer& snapshot) const {
  std::vector<std::shared_ptr<const ContextLens>> all;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [fingerprint, lens] : lenses_)
      all.push_back(lens);
  }
  for (const auto& lens : all) {
    lens->through(snapshot);
    if (lens->context().manifest().disclosure == Disclosure::search) lens->listed().through(snapshot);
  }
}

SnapshotPointer Contexts::resources(const UpstreamName& provider, const std::vector<std::string>& names) const {
  std::vector<std::string> texts;
  texts.reserve(names.size());
  for (const auto& name : names) {
    const auto context = find(name);
    if (!context) continue;
    texts.push_back(fmt::format(
        R"({{"uri":{},"name":{},"title":{},"description":"What this context is: its siblings, the schemas in use, queries to begin with.","mimeType":"application/json"}})",
        json::quote(std::string(kContextScheme) + name), json::quote(name), json::quote(context->display_name())));
  }
  if (texts.empty()) return nullptr;
  const std::vector<std::string_view> raw(texts.begin(), texts.end());
  auto list = DefinitionList::build(Kind::resource, raw, {}, {});
  if (!list) return nullptr;
  Snapshot::Lists lists;
  lists[Kind::resource] = std::move(*list);
  return std::make_shared<const Snapshot>(provider, 1, std::move(lists));
}

}  // namespace proteus::catalog
