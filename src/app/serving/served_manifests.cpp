#include "app/serving/served_manifests.hpp"

#include <algorithm>

#include "base/settings/names.hpp"

namespace proteus::app {
namespace {

catalog::ContextManifest manifest_of(const ContextSettings& settings) {
  catalog::ContextManifest manifest;
  manifest.parent = settings.parent;
  manifest.display_name = settings.display_name;
  manifest.include = settings.include;
  manifest.exclude = settings.exclude;
  manifest.siblings = settings.sibling_subgraphs;
  manifest.sibling_tools = settings.sibling_tools;
  manifest.schemas = settings.schemas;
  manifest.instructions = settings.instructions;
  manifest.dataset = settings.dataset;
  manifest.example_queries.reserve(settings.example_queries.size());
  for (const auto& query : settings.example_queries)
    manifest.example_queries.push_back({query.title, query.text});
  manifest.tool_supplements = settings.tool_supplements;
  manifest.disclosure = settings.disclosure;
  manifest.always = settings.always;
  return manifest;
}

// Keeps a context as it was served before, with the schemas that it uses.
void keep(catalog::Manifests& now, const catalog::Manifests& before, const std::string& name) {
  auto& kept = now.contexts.insert_or_assign(name, before.contexts.at(name)).first->second;
  kept.fault = "its manifest is broken; it is served as it was before";
  for (const auto& schema : kept.schemas) {
    const auto found = before.schemas.find(schema);
    if (found != before.schemas.end()) now.schemas.insert(*found);
  }
}

// If a file could not be read, anything that is missing may be in that file.
void keep_broken(catalog::Manifests& now, const catalog::Manifests& before, const BrokenManifests& broken) {
  for (const auto& [name, manifest] : before.contexts) {
    const bool may_be_broken = broken.unread_file || broken.contexts.contains(name);
    if (may_be_broken && !now.contexts.contains(name)) keep(now, before, name);
  }
  for (const auto& [name, manifest] : before.schemas) {
    if (broken.unread_file || broken.schemas.contains(name)) now.schemas.emplace(name, manifest);
  }
}

}  // namespace

catalog::Manifests served_manifests(const Config& config, const catalog::Manifests* before) {
  catalog::Manifests now;
  for (const auto& [name, settings] : config.contexts)
    now.contexts.emplace(name, manifest_of(settings));
  for (const auto& [name, settings] : config.schemas)
    now.schemas.emplace(name, catalog::SchemaManifest{settings.tools, settings.guidance});

  if (before != nullptr) keep_broken(now, *before, config.broken);
  for (const auto& name : config.broken.contexts) {
    if (!check_name(name) || now.contexts.contains(name) || now.schemas.contains(name)) continue;
    catalog::ContextManifest bare;
    if (const auto found = config.broken.filters.find(name); found != config.broken.filters.end()) {
      bare.include = found->second.include;
      bare.exclude = found->second.exclude;
    }
    bare.fault = "its manifest is broken; tools are described as their upstreams do";
    now.contexts.emplace(name, std::move(bare));
  }
  return now;
}

}  // namespace proteus::app
