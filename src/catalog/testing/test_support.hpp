#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "catalog/definitions/snapshot.hpp"
#include "catalog/view/catalog.hpp"
#include "catalog/view/view.hpp"
#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::catalog::testing {

inline std::string tool(std::string_view name, std::string_view description = "does something") {
  return fmt::format(R"({{"name":"{}","description":"{}","inputSchema":{{"type":"object"}}}})", name, description);
}

inline std::string resource(std::string_view uri) { return fmt::format(R"({{"uri":"{}","name":"r"}})", uri); }

inline std::string uri_template(std::string_view text) {
  return fmt::format(R"({{"uriTemplate":"{}","name":"t"}})", text);
}

inline DefinitionList::Pointer list_of(Kind kind, const std::vector<std::string>& raw, const NameRules& rules = {},
                                       const DefinitionList::Pointer& previous = nullptr) {
  const std::vector<std::string_view> views(raw.begin(), raw.end());
  return DefinitionList::build(kind, views, rules, {}, previous).value();
}

struct Listed {
  std::vector<std::string> tools;
  std::vector<std::string> resources;
  std::vector<std::string> templates;
};

inline SnapshotPointer snapshot(std::string name, std::uint64_t version, const Listed& listed,
                                const NameRules& rules = {}) {
  Snapshot::Lists lists;
  lists[Kind::tool] = list_of(Kind::tool, listed.tools, rules);
  lists[Kind::resource] = list_of(Kind::resource, listed.resources, rules);
  lists[Kind::resource_template] = list_of(Kind::resource_template, listed.templates, rules);
  return std::make_shared<const Snapshot>(UpstreamName(std::move(name)), version, std::move(lists));
}

inline std::vector<std::string> shown(const DefinitionList& list) {
  std::vector<std::string> names;
  for (const auto& definition : list.definitions())
    names.emplace_back(definition.shown);
  return names;
}

inline std::vector<UpstreamName> names(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

// Returns all names of a list as a client sees them, page by page.
inline std::vector<std::string> listed(const View& view, Kind kind, std::size_t page_size = 1000) {
  std::vector<std::string> all;
  Position position;
  while (true) {
    const Page page = view.page(kind, position, page_size);
    const std::string text = "[" + page.str() + "]";
    const auto elements = json::elements_of(text, 100'000).value();
    for (const auto element : elements)
      all.push_back(json::decode_string(json::find_member(element, info(kind).key)).value());
    if (!page.next) return all;
    position = *page.next;
  }
}

}  // namespace proteus::catalog::testing
