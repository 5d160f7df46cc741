#include "gateway/routing/listed_names.hpp"

#include <algorithm>

#include "catalog/shape/shaped_tool.hpp"

namespace proteus::gateway {

ListedNames::ListedNames(std::span<const catalog::DefinitionList::Pointer> pages) {
  std::size_t count = 0;
  std::size_t length = 0;
  for (const auto& page : pages) {
    prefix_ = page->rules().prefix;
    count += page->size();
    for (const auto& definition : page->definitions())
      length += definition.shown.size() + (definition.shown.ends_with(definition.own) ? 0 : definition.own.size());
  }
  text_.reserve(length);
  names_.reserve(count);
  const auto add = [this](std::string_view name) {
    const auto at = static_cast<std::uint32_t>(text_.size());
    text_ += name;
    return at;
  };
  for (const auto& page : pages) {
    for (const auto& definition : page->definitions()) {
      Name name{add(definition.shown),
                static_cast<std::uint32_t>(definition.shown.size()),
                0,
                static_cast<std::uint32_t>(definition.own.size()) & 0x1FFFFFFFU,
                definition.read_only ? 1U : 0U,
                definition.shaped != nullptr ? 1U : 0U,
                definition.renamed ? 1U : 0U};
      name.own = definition.shown.ends_with(definition.own) ? name.shown + name.shown_size - name.own_size
                                                            : add(definition.own);
      names_.push_back(name);
      if (definition.mirrored != nullptr) {
        mirrored_.emplace(own(name), std::make_shared<const std::vector<mcp::MirroredParameter>>(*definition.mirrored));
      }
      if (definition.shaped != nullptr) shaped_.emplace(own(name), definition.shaped->shared_from_this());
    }
  }
  std::ranges::sort(names_, {}, [this](const Name& name) { return std::pair(shown(name), name.shown); });
  const auto doubles =
      std::ranges::unique(names_, [this](const Name& a, const Name& b) { return shown(a) == shown(b); });
  names_.erase(doubles.begin(), doubles.end());
  for (const auto& page : pages) {
    for (const auto& definition : page->definitions()) {
      if (definition.pattern == nullptr) continue;
      const auto at =
          std::ranges::lower_bound(names_, definition.shown, {}, [this](const Name& n) { return shown(n); });
      patterns_.emplace_back(static_cast<std::uint32_t>(at - names_.begin()), *definition.pattern);
    }
  }
}

std::optional<ListedNames::Entry> ListedNames::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(names_, name, {}, [this](const Name& each) { return shown(each); });
  if (at == names_.end() || shown(*at) != name) return std::nullopt;
  return entry(*at);
}

std::optional<ListedNames::Entry> ListedNames::find_alias(std::string_view alias) const {
  if (!alias.starts_with(prefix_)) return std::nullopt;
  alias.remove_prefix(prefix_.size());
  const auto at =
      std::ranges::find_if(names_, [&](const Name& each) { return each.renamed == 0 && own(each) == alias; });
  if (at == names_.end()) return std::nullopt;
  return entry(*at);
}

std::size_t ListedNames::bytes() const {
  constexpr std::size_t kPattern = 200;  // including its parts
  return sizeof(*this) + text_.capacity() + (names_.capacity() * sizeof(Name)) + (patterns_.size() * kPattern) +
         ((shaped_.size() + mirrored_.size()) * kPattern);
}

}  // namespace proteus::gateway
