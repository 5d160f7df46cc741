// Fuzzes catalog lists with arbitrary definitions of a provider: one per line, and after an empty line the list that
// replaces the first. A list is JSON with distinct names in order, definitions are found by their names, and the second
// list does not depend on the first.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/view/catalog.hpp"
#include "catalog/view/view.hpp"
#include "check.hpp"
#include "json/message.hpp"

namespace {

using namespace proteus;
using namespace proteus::catalog;
using fuzz::check;

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void check_list(const DefinitionList& list) {
  const std::string whole = "[" + std::string(list.joined()) + "]";
  const auto elements = json::elements_of(whole, list.size());
  check(elements && elements->size() == list.size(), "a list of definitions is JSON");
  check(list.joined().find_first_of("\r\n") == std::string_view::npos, "a list is one line");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Definition& definition = list[i];
    check(i == 0 || list[i - 1].shown < definition.shown, "names are distinct and in order");
    check(check_shown_name(list.kind(), definition.shown).has_value(), "a name is one clients accept");
    check(list.find(definition.shown) == &definition, "a definition is found by its name");
    const auto hash = json::canonical_hash(original_text(list.kind(), definition));
    check(hash && *hash == definition.hash, "the original can be had back");
    if (list.rules().style != NameStyle::portable || list.kind() != Kind::tool) continue;
    check(definition.shown.size() <= kLongestPortableName, "a portable name is short");
    const std::string full = list.rules().prefix + std::string(definition.own);
    check(list.find(full) == &definition || list.find_alias(full, name_hash(full)) == &definition,
          "a portable name is found by its full name");
  }
}

SnapshotPointer snapshot(Kind kind, DefinitionList::Pointer list, std::uint64_t version) {
  Snapshot::Lists lists;
  lists[kind] = std::move(list);
  return std::make_shared<const Snapshot>(UpstreamName("u"), version, std::move(lists));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Kind kind = kKinds.at(data[0] % kKinds.size());
  const NameRules rules{(data[1] & 2U) != 0 ? "p." : "", (data[1] & 1U) != 0 ? NameStyle::portable : NameStyle::as_is};
  const std::string_view text = fuzz::as_text(data, size).substr(2);
  const std::size_t half = text.find("\n\n");
  const auto before = lines(text.substr(0, half));
  const auto after = half == std::string_view::npos ? before : lines(text.substr(half + 2));

  const auto old = DefinitionList::build(kind, before, rules, {});
  const auto now = DefinitionList::build(kind, after, rules, {}, old ? *old : nullptr);
  check(old.has_value() && now.has_value(), "a short list is within the limits");
  check_list(**old);
  check_list(**now);
  const auto afresh = DefinitionList::build(kind, after, rules, {});
  check((*afresh)->joined() == (*now)->joined(), "what was known before makes no difference");

  Catalog catalog;
  check(catalog.set_order({UpstreamName("u")}).has_value(), "an order is taken");
  check(catalog.publish(snapshot(kind, *old, 1)).has_value(), "a snapshot is taken");
  const auto published = catalog.publish(snapshot(kind, *now, 2));
  check(published.has_value(), "another snapshot is taken");
  for (const Change& change : published->changes)
    check(fuzz::boost_opinion("{" + write_change(change) + "}").value.has_value(), "a change is written as JSON");
  const View view(published->after);
  std::size_t found = 0;
  for (Position position; found < view.count(kind);) {
    const Page page = view.page(kind, position, 1 + data[1] % 5U);
    check(page.definitions > 0, "a page has something on it");
    found += page.definitions;
    if (page.next) position = *page.next;
  }
  (void)view.match_template(text);
  return 0;
}
