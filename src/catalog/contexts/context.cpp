#include "catalog/contexts/context.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "catalog/definitions/sentences.hpp"
#include "json/canonical.hpp"

namespace proteus::catalog {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

constexpr std::string_view kEntities = "{entity_types}";
constexpr std::string_view kRelationships = "{relationship_types}";

bool names_types(std::string_view text) { return text.contains(kEntities) || text.contains(kRelationships); }

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? std::string("(none)") : fmt::format("{}", fmt::join(names, ", "));
}

// Appends the text after its length, so that different sequences of texts never yield the same result.
void add(std::string& out, std::string_view text) { out += fmt::format("{}:{}", text.size(), text); }

void add(std::string& out, const std::vector<std::string>& texts) {
  out += fmt::format("{}[", texts.size());
  for (const auto& text : texts)
    add(out, text);
}

}  // namespace

Context::Context(const std::string& name, const Manifests& manifests, const TypesOf& types)
    : name_(name),
      manifest_(manifests.contexts.at(name)),
      selection_{EntryPatterns(manifest_.include), EntryPatterns(manifest_.exclude)} {
  if (manifest_.sibling_tools) sibling_tools_.emplace(*manifest_.sibling_tools);
  if (types && !manifest_.dataset.empty()) types_ = types(manifest_.dataset);
  find_siblings(manifests);
  find_guidance(manifests);
  for (const auto& [tool, text] : manifest_.tool_supplements) {
    if (auto said = expanded(text); !said.empty()) supplements_.emplace(tool, std::move(said));
  }
  instructions_ = expanded(manifest_.instructions);
  fingerprint_ = write_fingerprint();
}

const std::string& Context::display_name() const {
  return manifest_.display_name.empty() ? name_ : manifest_.display_name;
}

void Context::find_siblings(const Manifests& manifests) {
  const auto consider = [&](const std::string& sibling) {
    if (sibling.empty() || sibling == name_ || std::ranges::find(siblings_, sibling, &Sibling::name) != siblings_.end())
      return;
    const auto found = manifests.contexts.find(sibling);
    if (found != manifests.contexts.end()) siblings_.push_back({sibling, found->second.display_name});
  };
  for (const auto& sibling : manifest_.siblings)
    consider(sibling);
  consider(manifest_.parent);
}

void Context::find_guidance(const Manifests& manifests) {
  for (const auto& schema : manifest_.schemas) {
    const auto found = manifests.schemas.find(schema);
    if (found == manifests.schemas.end() || std::ranges::find(guidance_, schema, &Guidance::schema) != guidance_.end())
      continue;
    auto said = expanded(found->second.guidance);
    if (!said.empty())
      guidance_.push_back({schema, found->second.tools, EntryPatterns(found->second.tools), std::move(said)});
  }
}

std::string Context::expanded(std::string_view text) const {
  if (!types_ && names_types(text)) return without_sentences(text, names_types);
  // White space around a text comes from how it was written down and carries no meaning.
  std::string out(trimmed(text, " \t\r\n"));
  if (!types_) return out;
  replace_all(out, kEntities, listed(types_->entities));
  replace_all(out, kRelationships, listed(types_->relationships));
  return out;
}

bool Context::admits(Kind kind, const Names& names) const {
  return selection_.admits(kind, names, ComparedBy::any_name);
}

std::optional<bool> Context::mentions_siblings(const Names& tool) const {
  if (!sibling_tools_) return std::nullopt;
  return sibling_tools_->fit(Kind::tool, tool, ComparedBy::any_name);
}

std::vector<Part> Context::parts(const Names& tool) const {
  std::vector<Part> parts;
  for (const Guidance& guidance : guidance_) {
    if (guidance.patterns.fit(Kind::tool, tool, ComparedBy::any_name))
      parts.push_back({PartOf::schema, guidance.schema, guidance.text});
  }
  const auto supplement = [&](std::string_view key) {
    const auto found = supplements_.find(key);
    if (found != supplements_.end()) parts.push_back({PartOf::supplement, found->first, found->second});
    return found != supplements_.end();
  };
  // The name clients see is more specific than the provider's own, so it is looked up first.
  if (!supplements_.empty() && !supplement(tool.shown) &&
      !supplement(std::string(tool.prefix) + std::string(tool.own)) && tool.own != tool.shown) {
    supplement(tool.own);
  }
  return parts;
}

std::string Context::write_fingerprint() const {
  std::string all;
  for (const auto& text : {name_, manifest_.parent, manifest_.display_name, instructions_, manifest_.dataset})
    add(all, text);
  for (const auto& texts : {manifest_.include, manifest_.exclude, manifest_.schemas, manifest_.always})
    add(all, texts);
  if (manifest_.sibling_tools) add(all, *manifest_.sibling_tools);
  all += manifest_.disclosure == Disclosure::search ? "?;" : ";";
  if (types_) {
    add(all, types_->entities);
    add(all, types_->relationships);
  }
  all += ';';
  for (const auto& sibling : siblings_) {
    add(all, sibling.name);
    add(all, sibling.display_name);
  }
  all += ';';
  for (const auto& guidance : guidance_) {
    add(all, guidance.tools);
    add(all, guidance.text);
  }
  all += ';';
  for (const auto& [tool, text] : supplements_) {
    add(all, tool);
    add(all, text);
  }
  all += ';';
  for (const auto& query : manifest_.example_queries) {
    add(all, query.title);
    add(all, query.text);
  }
  return json::hex(json::sha256(all));
}

}  // namespace proteus::catalog
