#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "catalog/pins/change.hpp"
#include "catalog/pins/schema_change.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

using boost::json::object;
using boost::json::value;
using Reasons = std::vector<std::string>;

bool flag(const value* of, std::string_view key, bool absent) {
  const value* const found = of != nullptr && of->is_object() ? of->get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_bool() ? found->get_bool() : absent;
}

// Finds promises that were withdrawn. A missing hint has the default that the specification defines.
void compare_hints(const value* before, const value* after, Reasons& reasons) {
  struct Promise {
    std::string_view hint;
    bool promised;
    std::string_view broken;
  };
  static constexpr std::array kPromises = {
      Promise{"readOnlyHint", true, "it no longer promises to only read"},
      Promise{"destructiveHint", false, "it no longer promises to destroy nothing"},
      Promise{"idempotentHint", true, "it no longer promises that calling it again does nothing more"},
      Promise{"openWorldHint", false, "it no longer promises to stay within a closed world"}};
  const bool only_reads = flag(after, "readOnlyHint", false);
  for (const auto& [hint, promised, broken] : kPromises) {
    const bool of_writing = hint == "destructiveHint" || hint == "idempotentHint";
    if (only_reads && of_writing) continue;
    if (flag(before, hint, !promised) == promised && flag(after, hint, !promised) != promised) {
      reasons.emplace_back(fmt::format("{}: {}", hint, broken));
    }
  }
}

// Without what is meant by its absence, too: a tool runs as no task unless it says otherwise.
object execution_of(const object& tool) {
  const value* const given = tool.if_contains("execution");
  object execution = given != nullptr && given->is_object() ? given->get_object() : object();
  const value* const support = execution.if_contains("taskSupport");
  if (support != nullptr && *support == "forbidden") execution.erase("taskSupport");
  return execution;
}

void compare_tools(const object& before, const object& after, Reasons& reasons) {
  const auto append = [&](Reasons more) { std::ranges::move(more, std::back_inserter(reasons)); };
  append(breaking_changes(before.at("inputSchema"), after.at("inputSchema"), SchemaOf::input));
  const value* const was = before.if_contains("outputSchema");
  const value* const is = after.if_contains("outputSchema");
  if (was != nullptr && is == nullptr) reasons.emplace_back("output: it is no longer described");
  if (was != nullptr && is != nullptr) append(breaking_changes(*was, *is, SchemaOf::output));
  compare_hints(before.if_contains("annotations"), after.if_contains("annotations"), reasons);
  if (execution_of(before) != execution_of(after))
    reasons.emplace_back("execution changed: cannot be shown to be compatible");
}

std::map<std::string_view, bool> arguments_of(const object& prompt) {
  std::map<std::string_view, bool> arguments;
  const value* const listed = prompt.if_contains("arguments");
  if (listed == nullptr) return arguments;
  for (const auto& argument : listed->get_array())
    arguments.emplace(argument.at("name").get_string(), flag(&argument, "required", false));
  return arguments;
}

void compare_prompts(const object& before, const object& after, Reasons& reasons) {
  const auto old = arguments_of(before);
  const auto now = arguments_of(after);
  for (const auto& [name, required] : now) {
    const auto known = old.find(name);
    if (required && (known == old.end() || !known->second)) {
      reasons.emplace_back(fmt::format("the argument {} is required now", log::printable(name)));
    }
  }
  for (const auto& [name, required] : old) {
    if (!now.contains(name)) reasons.emplace_back(fmt::format("the argument {} was removed", log::printable(name)));
  }
}

void compare_resources(const object& before, const object& after, Reasons& reasons) {
  const value* const was = before.if_contains("mimeType");
  const value* const is = after.if_contains("mimeType");
  if (was == nullptr || (is != nullptr && *was == *is)) return;
  reasons.emplace_back(fmt::format("mimeType changed from {} to {}", log::printable(was->get_string()),
                                   is == nullptr ? "none" : log::printable(is->get_string())));
}

void name_members(const object& before, const object& after, Reasons& reasons) {
  constexpr std::size_t kMost = 32;
  const auto add = [&](std::string_view key, std::string_view how) {
    if (reasons.size() < kMost) reasons.push_back(fmt::format("{} {}", log::printable(key, 60), how));
  };
  for (const auto& member : after) {
    const value* const was = before.if_contains(member.key());
    if (was == nullptr) {
      add(member.key(), "is new");
    } else if (*was != member.value()) {
      add(member.key(), "changed");
    }
  }
  for (const auto& member : before) {
    if (!after.contains(member.key())) add(member.key(), "is gone");
  }
}

}  // namespace

ChangedDefinition compare(Kind kind, const Definition& before, const Definition& after) {
  ChangedDefinition changed{std::string(after.shown), Compatibility::compatible, {}};
  const auto old = json::parse(before.text);
  const auto now = json::parse(after.text);
  const object& was = old->as_object();
  const object& is = now->as_object();
  switch (kind) {
    case Kind::tool: compare_tools(was, is, changed.reasons); break;
    case Kind::prompt: compare_prompts(was, is, changed.reasons); break;
    case Kind::resource:
    case Kind::resource_template: compare_resources(was, is, changed.reasons); break;
  }
  if (!changed.reasons.empty()) changed.compatibility = Compatibility::breaking;
  name_members(was, is, changed.reasons);
  return changed;
}

}  // namespace proteus::catalog
