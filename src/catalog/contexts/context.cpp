#include "catalog/contexts/context.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "catalog/contexts/access.hpp"
#include "catalog/definitions/plain_uri.hpp"
#include "catalog/definitions/sentences.hpp"
#include "json/canonical.hpp"

namespace proteus::catalog {
namespace {

// White space around a text is how it was written down, and none of what it says.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = std::min(text.find_first_not_of(kSpace), text.size());
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

struct KindPattern {
  std::string_view text;
  bool fits_kind;
};

// A pattern without the kind in front of it, and whether it is one of this kind.
KindPattern pattern_for(Kind kind, std::string_view pattern) {
  constexpr std::string_view kPrompt = "prompt:";
  constexpr std::string_view kResource = "resource:";
  if (pattern.starts_with(kPrompt)) return {pattern.substr(kPrompt.size()), kind == Kind::prompt};
  if (pattern.starts_with(kResource)) {
    return {pattern.substr(kResource.size()), kind == Kind::resource || kind == Kind::resource_template};
  }
  return {pattern, kind == Kind::tool};
}

bool fits_any_name(std::string_view pattern, const Names& names) {
  if (fits(pattern, names.shown) || fits(pattern, names.own)) return true;
  const bool has_alias = !names.prefix.empty() && names.shown.size() != names.prefix.size() + names.own.size();
  return has_alias && fits(pattern, std::string(names.prefix) + std::string(names.own));
}

bool speaks_of(const std::vector<std::string>& patterns, Kind kind) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) { return pattern_for(kind, pattern).fits_kind; });
}

template <class Fits>
bool any_fits(const std::vector<std::string>& patterns, Kind kind, Fits&& fits_one) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) {
    const auto [text, fits_kind] = pattern_for(kind, pattern);
    return fits_kind && fits_one(text);
  });
}

bool fits_any(const std::vector<std::string>& patterns, Kind kind, const Names& names) {
  return any_fits(patterns, kind, [&](std::string_view pattern) { return fits_any_name(pattern, names); });
}

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

// Lengths in front keep two texts from being taken for two others.
void add(std::string& out, std::string_view text) { out += fmt::format("{}:{}", text.size(), text); }

void add(std::string& out, const std::vector<std::string>& texts) {
  out += fmt::format("{}[", texts.size());
  for (const auto& text : texts)
    add(out, text);
}

}  // namespace

Context::Context(const std::string& name, const Manifests& manifests, const TypesOf& types)
    : name_(name), manifest_(manifests.contexts.at(name)) {
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
    if (!said.empty()) guidance_.push_back({schema, found->second.tools, std::move(said)});
  }
}

std::string Context::expanded(std::string_view text) const {
  if (!types_ && names_types(text)) return without_sentences(text, names_types);
  std::string out(trimmed(text));
  if (!types_) return out;
  replace_all(out, kEntities, listed(types_->entities));
  replace_all(out, kRelationships, listed(types_->relationships));
  return out;
}

bool Context::filters(Kind kind) const {
  if (speaks_of(manifest_.exclude, kind)) return true;
  if (manifest_.include.empty()) return kind == Kind::tool;
  return speaks_of(manifest_.include, kind) && std::ranges::none_of(manifest_.include, [&](const auto& pattern) {
           const auto [text, fits_kind] = pattern_for(kind, pattern);
           return fits_kind && text == "*";
         });
}

// A URI is compared as it is written and as it may be read: whichever is kept out keeps it out.
bool Context::admits(Kind kind, const Names& names) const {
  const auto& include = manifest_.include;
  const bool whole = include.empty() ? kind != Kind::tool : !speaks_of(include, kind);
  const auto admitted = [&](const auto& fits_one) {
    return (whole || any_fits(include, kind, fits_one)) && !any_fits(manifest_.exclude, kind, fits_one);
  };
  if (!admitted([&](std::string_view pattern) { return fits_any_name(pattern, names); })) return false;
  if ((kind != Kind::resource && kind != Kind::resource_template) || !filters(kind)) return true;
  const auto plain = plain_uri(names.shown);
  return plain && admitted([&](std::string_view pattern) { return fits(plain_uri_pattern(pattern), *plain); });
}

std::optional<bool> Context::mentions_siblings(const Names& tool) const {
  if (!manifest_.sibling_tools) return std::nullopt;
  return fits_any(*manifest_.sibling_tools, Kind::tool, tool);
}

std::vector<Part> Context::parts(const Names& tool) const {
  std::vector<Part> parts;
  for (const Guidance& guidance : guidance_) {
    if (fits_any(guidance.tools, Kind::tool, tool)) parts.push_back({PartOf::schema, guidance.schema, guidance.text});
  }
  const auto supplement = [&](std::string_view key) {
    const auto found = supplements_.find(key);
    if (found != supplements_.end()) parts.push_back({PartOf::supplement, found->first, found->second});
    return found != supplements_.end();
  };
  // The name clients see is the more exact one.
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
  for (const auto& texts : {manifest_.include, manifest_.exclude, manifest_.schemas})
    add(all, texts);
  if (manifest_.sibling_tools) add(all, *manifest_.sibling_tools);
  all += ';';
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
