#include "gateway/callers/instructions.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/settings/names.hpp"
#include "catalog/definitions/sentences.hpp"
#include "gateway/callers/search_definitions.hpp"

namespace proteus::gateway {
namespace {

using catalog::Kind;

// Calls `take` with each word, without the full stops and hyphens at its end.
template <class Take>
void each_word(std::string_view text, Take&& take) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name_character(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_name_character(text[at]))
      ++at;
    std::string_view word = text.substr(begin, at - begin);
    while (word.ends_with('.') || word.ends_with('-'))
      word.remove_suffix(1);
    if (!word.empty()) take(word);
  }
}

enum class Known : std::uint8_t { no, hidden, seen };
using Words = std::unordered_map<std::string_view, Known>;

// Calls `mark` for the words that are names of a list's tools. Iterates over the shorter of the two.
template <class Mark>
void mark_names(Words& words, const catalog::DefinitionList& tools, Mark&& mark) {
  if (tools.size() <= words.size()) {
    for (const auto& tool : tools.definitions()) {
      for (const std::string_view name : {tool.shown, tool.own}) {
        if (const auto found = words.find(name); found != words.end()) mark(found->second, tool);
      }
    }
    return;
  }
  for (auto& [word, known] : words) {
    const std::string full = tools.rules().prefix + std::string(word);
    for (const auto* tool : {tools.find(word), tools.find(full), tools.find_alias(full, catalog::name_hash(full))}) {
      if (tool != nullptr && (tool->shown == word || tool->own == word)) mark(known, *tool);
    }
  }
}

// Returns the prefixes of upstreams that are listed live. Their tools are not in the catalog, so a name can only be
// recognized by its prefix.
std::vector<std::string> live_prefixes(const UpstreamTable& upstreams) {
  std::vector<std::string> prefixes;
  for (const ServedUpstream& served : upstreams.order) {
    if (!served->is_direct()) continue;
    if (auto prefix = served->settings().effective_prefix(); !prefix.empty()) prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

// Returns the names of existing tools that the text contains and the view does not show.
std::set<std::string, std::less<>> hidden_names(std::string_view text, const catalog::View& view,
                                                const UpstreamTable& upstreams) {
  Words words;
  each_word(text, [&](std::string_view word) { words.emplace(word, Known::no); });
  const auto& state = view.state();
  for (std::uint32_t rank = 0; rank < state.places(); ++rank) {
    if (state.at(rank) == nullptr) continue;
    mark_names(words, state.at(rank)->list(Kind::tool), [&](Known& known, const catalog::Definition& tool) {
      if (known == Known::seen) return;
      known = view.find(Kind::tool, tool.shown) ? Known::seen : Known::hidden;
    });
  }
  const auto prefixes = live_prefixes(upstreams);
  // Whether a live tool is read-only is not known here.
  const bool untold = view.access().only_read_only(Kind::tool);
  std::set<std::string, std::less<>> hidden;
  for (const auto& [word, known] : words) {
    if (known == Known::hidden && !view.find(Kind::tool, word)) hidden.emplace(word);
    if (known != Known::no || view.lens() == nullptr) continue;
    const bool kept_out = std::ranges::any_of(prefixes, [&](const std::string& prefix) {
      return word.starts_with(prefix) &&
             (untold || !view.lens()->admits(Kind::tool, {word, word.substr(prefix.size()), prefix}));
    });
    if (kept_out) hidden.emplace(word);
  }
  return hidden;
}

// Whether the view shows anything of an upstream. The instructions of other upstreams are omitted.
bool is_seen(const ServedUpstream& served, const catalog::View& view) {
  if (!view.access().allows(served->name())) return false;
  if (served->is_direct() || view.lens() == nullptr) return true;
  const catalog::Snapshot* const snapshot = view.seen(served->name());
  return snapshot != nullptr &&
         std::ranges::any_of(catalog::kKinds, [&](Kind kind) { return snapshot->list(kind).size() > 0; });
}

std::string said_by(const catalog::View& view, const UpstreamTable& upstreams) {
  std::string text;
  std::size_t seen = 0;
  std::string alone;
  for (const ServedUpstream& served : upstreams.order) {
    if (!is_seen(served, view)) continue;
    ++seen;
    const auto facts = served->facts();
    if (!facts) continue;
    const std::string said = served->pins() ? served->pins()->instructions() : facts->instructions;
    if (said.empty()) continue;
    alone = said;
    text += fmt::format("{}{}: {}", text.empty() ? "" : "\n\n", served->settings().label(), said);
  }
  return seen == 1 ? alone : text;
}

std::string composed(const catalog::ContextLens& lens, const catalog::View& view, std::string said) {
  const auto& context = lens.context();
  std::string text = fmt::format("This is {}.", context.display_name());
  if (auto related = catalog::sibling_text(lens.siblings()); !related.empty()) text += " " + related;
  const std::string guide = std::string(catalog::kContextScheme) + context.name();
  if (view.find(Kind::resource, guide)) text += fmt::format(" The resource {} tells more.", guide);
  if (!said.empty()) text += "\n\n" + said;
  return text;
}

}  // namespace

namespace {

std::string without_search(const ContextView* context_view, const catalog::View& view, const UpstreamTable& upstreams) {
  const catalog::ContextLens* const lens = context_view != nullptr ? context_view->lens.get() : nullptr;
  std::string text;
  if (lens != nullptr && !lens->context().instructions().empty()) {
    text = lens->context().instructions();
  } else {
    text = said_by(view, upstreams);
    if (lens != nullptr) text = composed(*lens, view, std::move(text));
  }
  if (text.empty() || (view.access().is_all() && lens == nullptr)) return text;
  const auto hidden = hidden_names(text, view, upstreams);
  if (hidden.empty()) return text;
  return catalog::without_sentences(text, [&](std::string_view sentence) {
    bool names_hidden = false;
    each_word(sentence, [&](std::string_view word) { names_hidden = names_hidden || hidden.contains(word); });
    return names_hidden;
  });
}

// Returns instructions for finding tools that are not listed.
std::string how_to_search() {
  return fmt::format(
      "Most tools of this server are not listed: find them with {} (one query for each step of your task), and call "
      "what you find with {}, or with {} where it only reads. Where a signature is not enough to call a tool by, {} "
      "shows its full definition.",
      kSearchTools, kCallTool, kCallReadTool, kDescribeTool);
}

}  // namespace

std::string instructions_for(const ContextView* context_view, const catalog::View& view,
                             const UpstreamTable& upstreams) {
  std::string text = without_search(context_view, view, upstreams);
  if (!view.is_searched()) return text;
  return text.empty() ? how_to_search() : fmt::format("{}\n\n{}", how_to_search(), text);
}

}  // namespace proteus::gateway
