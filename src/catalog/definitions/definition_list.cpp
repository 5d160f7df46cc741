#include "catalog/definitions/definition_list.hpp"

#include <algorithm>
#include <functional>
#include <memory>

#include "json/message.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::catalog {

std::uint32_t name_hash(std::string_view name) {
  const std::uint64_t wide = std::hash<std::string_view>{}(name);
  return static_cast<std::uint32_t>(wide ^ (wide >> 32U));
}

std::string original_text(Kind kind, const Definition& definition) {
  if (definition.own == definition.shown) return std::string(definition.text);
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(definition.text, storage);
  const std::string own = json::quote(definition.own);
  json::Splice splice(definition.text);
  splice.replace(members->value(info(kind).key), own);
  return splice.str();
}

DefinitionList::Pointer DefinitionList::empty(Kind kind) {
  const auto make = [](Kind of) { return Pointer(new DefinitionList(of)); };
  static const std::array empty_lists = {make(Kind::tool), make(Kind::prompt), make(Kind::resource),
                                         make(Kind::resource_template)};
  return empty_lists.at(index_of(kind));
}

std::string_view DefinitionList::joined(std::size_t begin, std::size_t end) const {
  if (begin == end) return {};
  const char* const first = definitions_[begin].text.data();
  const std::string_view last = definitions_[end - 1].text;
  return {first, static_cast<std::size_t>(last.data() + last.size() - first)};
}

std::string_view DefinitionList::key_name(const Key& key) const {
  const Definition& definition = definitions_[key.index];
  return key.alias != 0 ? definition.own : definition.shown;
}

// Names with the same hash are sorted, so a provider gains nothing by choosing names that collide.
const Definition* DefinitionList::find_key(std::string_view name, std::uint32_t hash, bool alias) const {
  const auto below = [&](const Key& key) {
    if (key.hash != hash) return key.hash < hash;
    if ((key.alias != 0) != alias) return key.alias == 0;
    return key_name(key) < name;
  };
  const auto found = std::ranges::partition_point(keys_, below);
  if (found == keys_.end() || found->hash != hash || (found->alias != 0) != alias || key_name(*found) != name) {
    return nullptr;
  }
  return &definitions_[found->index];
}

const Definition* DefinitionList::find(std::string_view shown, std::uint32_t hash) const {
  return find_key(shown, hash, false);
}

const Definition* DefinitionList::find_alias(std::string_view alias, std::uint32_t hash) const {
  if (!alias.starts_with(rules_.prefix)) return nullptr;
  return find_key(alias.substr(rules_.prefix.size()), hash, true);
}

std::size_t DefinitionList::above(std::string_view shown) const {
  const auto found = std::ranges::upper_bound(definitions_, shown, {}, &Definition::shown);
  return static_cast<std::size_t>(found - definitions_.begin());
}

}  // namespace proteus::catalog
