#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/ascii.hpp"
#include "catalog/definitions/definition_check.hpp"
#include "catalog/definitions/definition_list.hpp"
#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::catalog {

bool has_modern_output(std::string_view tool) {
  constexpr std::string_view kMember = "outputSchema";
  if (!tool.contains(kMember)) return false;
  const std::string_view schema = json::find_member(tool, kMember);
  return !schema.empty() && json::plain_string(json::find_member(schema, "type")) != "object";
}

// Builds a DefinitionList: first reads all own names, because the shown name of one may depend on all of them; then
// writes the texts into the buffer, in the order of the shown names.
class ListBuilder {
 public:
  // `reshaped` may be null and must outlive the builder.
  ListBuilder(Kind kind, const NameRules& rules, const ListLimits& limits, DefinitionList::Pointer previous,
              const DefinitionList::Reshaped* reshaped)
      : kind_(kind),
        limits_(limits),
        previous_(std::move(previous)),
        reshaped_(reshaped),
        list_(new DefinitionList(kind)) {
    list_->rules_ = rules;
    if (previous_ && previous_->rules() != rules) previous_ = nullptr;
  }

  void read(std::string_view raw) {
    raw = trimmed(raw, " \n\t\r");
    if (raw.size() > limits_.definition_bytes) {
      return omit({}, errors::too_large("the size of its definition", limits_.definition_bytes));
    }
    std::vector<std::unique_ptr<std::string>> storage;
    auto members = json::members_of(raw, storage);
    if (!members) return omit({}, members.error());
    const std::string_view key = members->value(info(kind_).key);
    if (key.empty()) return omit({}, errors::invalid(fmt::format("it has no {}", info(kind_).key)));
    auto own = json::decode_string(key);
    if (!own) return omit({}, errors::invalid(fmt::format("its {} is not a string", info(kind_).key)));
    if (auto checked = check_own_name(kind_, *own); !checked) return omit(*own, checked.error());
    candidates_.push_back({raw, key, std::move(*own), {}});
  }

  DefinitionList::Pointer finish() {
    drop_doubles();
    name();
    std::ranges::sort(candidates_, {}, &Candidate::shown);
    write_all();
    settle();
    index();
    std::ranges::sort(list_->omissions_, {}, [](const Omission& omission) {
      return std::pair<std::string_view, std::string_view>(omission.name, omission.reason);
    });
    const bool same = previous_ && reused_ == previous_->size() && reused_ == list_->size() &&
                      list_->omitted_ == previous_->omitted_ && list_->omissions_ == previous_->omissions_;
    if (same) return previous_;
    return DefinitionList::Pointer(std::move(list_));
  }

 private:
  struct Candidate {
    std::string_view raw;
    std::string_view key;  // the value of the key member, in `raw`
    std::string own;
    std::string shown;
  };
  // Position of a text in the buffer, which may still move.
  struct Written {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::size_t key_begin = 0;
    std::size_t key_size = 0;
  };

  void omit(std::string_view name, const Error& why) {
    ++list_->omitted_;
    if (list_->omissions_.size() < DefinitionList::kMaxOmissions) {
      list_->omissions_.push_back({kind_, log::printable(name), why.message()});
    }
  }

  // Drops the candidates for which `why` returns an error and keeps the order of the others.
  template <class Why>
  void filter(Why&& why) {
    std::erase_if(candidates_, [&](const Candidate& candidate) {
      const Result<void> kept = why(candidate);
      if (!kept) omit(candidate.own, kept.error());
      return !kept;
    });
  }

  void drop_doubles() {
    // A sorted set, because a provider could choose names with the same hash.
    std::set<std::string> seen;
    filter([&](const Candidate& candidate) -> Result<void> {
      if (seen.insert(candidate.own).second) return {};
      return std::unexpected(
          errors::conflict(fmt::format("a {} before it has the same {}", info(kind_).word, info(kind_).key)));
    });
  }

  void name() {
    std::vector<std::string_view> own;
    own.reserve(candidates_.size());
    for (const Candidate& candidate : candidates_)
      own.push_back(name_of(candidate.own));
    auto shown = shown_names(kind_, own, list_->rules_);
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      candidates_[i].shown = std::move(shown[i]);
    filter([&](const Candidate& candidate) { return check_shown_name(kind_, candidate.shown); });
  }

  // Returns the name that replaces the provider's own; the own name if none does.
  std::string_view name_of(std::string_view own) const {
    if (reshaped_ == nullptr) return own;
    const auto found = reshaped_->names.find(own);
    return found == reshaped_->names.end() ? own : std::string_view(found->second);
  }

  void write_all() {
    std::size_t bytes = 0;
    for (const Candidate& candidate : candidates_)
      bytes += candidate.raw.size() + candidate.shown.size() + 3;
    list_->text_.reserve(bytes);
    list_->definitions_.reserve(candidates_.size());
    written_.reserve(candidates_.size());
    filter([&](const Candidate& candidate) { return write(candidate); });
    list_->text_.shrink_to_fit();
    list_->definitions_.shrink_to_fit();
  }

  Result<void> write(const Candidate& candidate) {
    std::string& out = list_->text_;
    const std::size_t before = out.size();
    if (before > 0) out.push_back(',');
    Written written;
    written.begin = out.size();
    const std::size_t key_at = static_cast<std::size_t>(candidate.key.data() - candidate.raw.data());
    out += candidate.raw.substr(0, key_at);
    written.key_begin = out.size();
    if (candidate.shown == candidate.own) {
      out += candidate.key;
    } else {
      json::append_quoted(out, candidate.shown);
    }
    written.key_size = out.size() - written.key_begin;
    out += candidate.raw.substr(key_at + candidate.key.size());
    written.size = out.size() - written.begin;
    // Strings in JSON contain no line breaks, so these are between tokens.
    std::replace_if(
        out.begin() + static_cast<std::ptrdiff_t>(written.begin), out.end(),
        [](char c) { return c == '\n' || c == '\r'; }, ' ');

    Definition definition;
    auto filled = fill(definition, candidate, std::string_view(out).substr(written.begin));
    if (!filled) {
      out.resize(before);
      return filled;
    }
    list_->definitions_.push_back(definition);
    written_.push_back(written);
    return {};
  }

  // Sets everything in `definition` except its names and text.
  Result<void> fill(Definition& definition, const Candidate& candidate, std::string_view text) {
    const Definition* const known = previous_ ? previous_->find(candidate.shown) : nullptr;
    const bool useless = known != nullptr && known->task_only && limits_.tasks == Tasks::not_spoken;
    if (known != nullptr && known->own == candidate.own && known->text == text && !useless) {
      ++reused_;
      definition.hash = known->hash;
      definition.read_only = known->read_only;
      definition.task_only = known->task_only;
      if (known->mirrored != nullptr) definition.mirrored = &list_->mirrored_.emplace_front(*known->mirrored);
      if (known->pattern != nullptr) definition.pattern = &list_->patterns_.emplace_front(*known->pattern);
      return {};
    }
    const auto value = json::parse(candidate.raw);
    if (!value) return std::unexpected(value.error());
    auto mirrored = check_definition(kind_, *value, limits_.tasks);
    if (!mirrored) return std::unexpected(mirrored.error());
    if (kind_ == Kind::resource_template) {
      auto pattern = mcp::UriPattern::parse(candidate.own);
      if (!pattern) return std::unexpected(pattern.error());
      definition.pattern = &list_->patterns_.emplace_front(std::move(*pattern));
    }
    definition.read_only = kind_ == Kind::tool && declares_read_only(*value);
    definition.task_only = kind_ == Kind::tool && needs_task(*value);
    if (!mirrored->empty()) definition.mirrored = &list_->mirrored_.emplace_front(std::move(*mirrored));
    const auto hash = json::canonical_hash(candidate.raw);
    if (!hash) return std::unexpected(hash.error());
    definition.hash = *hash;
    return {};
  }

  // Points the definitions into the buffer, which does not move any more. Nearly every name occurs there without
  // escapes.
  void settle() {
    const std::string_view text = list_->text_;
    for (std::size_t i = 0; i < written_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      Definition& definition = list_->definitions_[i];
      definition.text = text.substr(written_[i].begin, written_[i].size);
      const auto plain = json::plain_string(text.substr(written_[i].key_begin, written_[i].key_size));
      definition.shown = plain ? *plain : list_->names_.emplace_front(candidate.shown);
      definition.own = definition.shown.ends_with(candidate.own)
                           ? definition.shown.substr(definition.shown.size() - candidate.own.size())
                           : std::string_view(list_->names_.emplace_front(candidate.own));
      if (reshaped_ == nullptr) continue;
      definition.renamed = reshaped_->names.contains(candidate.own);
      const auto shaped = reshaped_->tools.find(candidate.own);
      if (shaped != reshaped_->tools.end()) definition.shaped = list_->shaped_.emplace_front(shaped->second).get();
    }
  }

  void index() {
    using Key = DefinitionList::Key;
    const bool portable = list_->rules_.style == NameStyle::portable && (kind_ == Kind::tool || kind_ == Kind::prompt);
    const std::size_t prefix = list_->rules_.prefix.size();
    list_->keys_.reserve(list_->size());
    if (kind_ == Kind::tool) {
      list_->modern_output_ = std::ranges::any_of(list_->definitions_, has_modern_output, &Definition::text);
      list_->task_only_ = std::ranges::any_of(list_->definitions_, &Definition::task_only);
    }
    for (std::uint32_t i = 0; i < list_->size(); ++i) {
      const Definition& definition = (*list_)[i];
      list_->keys_.push_back({name_hash(definition.shown), 0, i});
      if (definition.pattern != nullptr) list_->by_precision_.push_back(i);
      if (!portable) continue;
      const bool as_is = definition.shown.size() == prefix + definition.own.size() &&
                         definition.shown.starts_with(list_->rules_.prefix) &&
                         definition.shown.ends_with(definition.own);
      // A renamed tool has no alias: its former name is no longer valid.
      if (!as_is && !definition.renamed)
        list_->keys_.push_back({name_hash(list_->rules_.prefix + std::string(definition.own)), 1, i});
    }
    std::ranges::sort(list_->keys_, [&](const Key& a, const Key& b) {
      if (a.hash != b.hash) return a.hash < b.hash;
      if (a.alias != b.alias) return a.alias < b.alias;
      return list_->key_name(a) < list_->key_name(b);
    });
    std::ranges::sort(list_->by_precision_, [&](std::uint32_t a, std::uint32_t b) {
      const std::size_t x = (*list_)[a].pattern->fixed_characters();
      const std::size_t y = (*list_)[b].pattern->fixed_characters();
      return x != y ? x > y : a < b;
    });
  }

  Kind kind_;
  const ListLimits& limits_;
  DefinitionList::Pointer previous_;
  const DefinitionList::Reshaped* reshaped_;
  std::unique_ptr<DefinitionList> list_;
  std::vector<Candidate> candidates_;
  std::vector<Written> written_;
  std::size_t reused_ = 0;
};

namespace {

Result<void> check_limits(Kind kind, std::span<const std::string_view> raw, const ListLimits& limits) {
  const KindInfo& about = info(kind);
  if (raw.size() > limits.definitions) {
    return std::unexpected(errors::too_large(fmt::format("the number of {}", about.plural), limits.definitions));
  }
  std::size_t bytes = 0;
  for (const std::string_view text : raw)
    bytes += text.size() > limits.definition_bytes ? 0 : text.size();
  if (bytes > limits.bytes) {
    return std::unexpected(errors::too_large(fmt::format("the size of all {}", about.plural), limits.bytes));
  }
  return {};
}

}  // namespace

Result<DefinitionList::Pointer> DefinitionList::build(Kind kind, std::span<const std::string_view> raw,
                                                      const NameRules& rules, const ListLimits& limits,
                                                      const Pointer& previous) {
  if (auto checked = check_limits(kind, raw, limits); !checked) return std::unexpected(std::move(checked.error()));
  if (raw.empty()) return empty(kind);
  ListBuilder builder(kind, rules, limits, previous, nullptr);
  for (const std::string_view text : raw)
    builder.read(text);
  return builder.finish();
}

Result<DefinitionList::Pointer> DefinitionList::build(Kind kind, std::span<const std::string_view> raw,
                                                      const NameRules& rules, const ListLimits& limits,
                                                      const Reshaped& reshaped) {
  if (auto checked = check_limits(kind, raw, limits); !checked) return std::unexpected(std::move(checked.error()));
  if (raw.empty()) return empty(kind);
  ListBuilder builder(kind, rules, limits, nullptr, &reshaped);
  for (const std::string_view text : raw)
    builder.read(text);
  return builder.finish();
}

}  // namespace proteus::catalog
