#include "catalog/shape/shape.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "catalog/contexts/context.hpp"
#include "catalog/definitions/definition_check.hpp"
#include "catalog/shape/shape_schema.hpp"
#include "catalog/shape/shaped_tool.hpp"
#include "json/message.hpp"
#include "json/splice.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

using boost::json::value;

// Limit of one validation on a worker: about half a millisecond.
constexpr std::size_t kWork = 50'000;

std::string with_member(std::string_view object, std::string_view key, std::string_view text) {
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(object, storage);
  if (!members) return std::string(object);
  json::Splice splice(object);
  const std::string quoted = json::quote(text);
  if (const std::string_view before = members->value(key); !before.empty()) {
    splice.replace(before, quoted);
    return splice.str();
  }
  const std::string added = fmt::format("{}:{}", json::quote(key), quoted);
  json::edit_members(splice, object, *members, [](const json::Member&) { return false; }, added);
  return splice.str();
}

// Whether the tool's hints allow it to destroy something. By the specification, a tool without hints may.
bool may_destroy(const value& tool) {
  if (declares_read_only(tool)) return false;
  const value* const hints = tool.as_object().if_contains("annotations");
  const value* const hint = hints == nullptr ? nullptr : hints->as_object().if_contains("destructiveHint");
  return hint == nullptr || !hint->is_bool() || hint->get_bool();
}

std::shared_ptr<const json::Schema> compile(const value& tool) {
  const auto compiled = json::Schema::compile(tool.at("inputSchema"), {.documents = {}, .limits = {.work = kWork}});
  return compiled ? *compiled : nullptr;
}

// The result of shaping one tool.
struct Work {
  std::string text;
  std::shared_ptr<const ShapedTool> calls;  // null if its calls stay as they are
};

Result<Work> shape_one(const Definition& definition, const ToolShape& shape) {
  Work work{.text = original_text(Kind::tool, definition), .calls = nullptr};
  auto tool = json::parse(work.text);
  if (!tool) return std::unexpected(tool.error());
  ShapedTool calls;
  calls.fixed = shape.fixed;
  calls.defaults = shape.defaults;
  calls.timeout = shape.timeout;
  const Confirm confirm = shape.confirm.value_or(Confirm::never);
  calls.asks = confirm == Confirm::always || (confirm == Confirm::destructive && may_destroy(*tool));
  std::erase_if(calls.defaults, [&](const auto& each) { return calls.fixed.contains(each.first); });
  if (shape.title) work.text = with_member(work.text, "title", *shape.title);
  if (shape.description) work.text = with_member(work.text, "description", *shape.description);
  if (shape.append) work.text = append_to_description(work.text, *shape.append);
  const bool adds = !calls.fixed.empty() || !calls.defaults.empty();
  if (adds) {
    auto shaped = with_arguments_added(work.text, tool->at("inputSchema"), calls.fixed, calls.defaults);
    if (!shaped) return std::unexpected(std::move(shaped.error()));
    work.text = std::move(*shaped);
    if (definition.mirrored != nullptr) calls.mirrored = *definition.mirrored;
    if (const auto shown = json::parse(work.text)) calls.arguments = compile(*shown);
  }
  if (adds || calls.asks || calls.timeout) work.calls = std::make_shared<const ShapedTool>(std::move(calls));
  return work;
}

// Returns those of the wanted names that can be given. A tool keeps its own name if another tool has the wanted name,
// also if that tool keeps it only because it could not be renamed itself.
std::map<std::string, std::string, std::less<>> settle_names(std::map<std::string, std::string, std::less<>> wanted,
                                                             const std::set<std::string_view>& shown,
                                                             std::vector<std::string>& warnings) {
  std::map<std::string_view, std::string_view> by_new_name;  // the own name of the first tool that wants it
  for (const auto& [own, name] : wanted)
    by_new_name.emplace(name, own);
  std::vector<std::string_view> losers;
  for (const auto& [own, name] : wanted) {
    const bool others = shown.contains(name) && !wanted.contains(name);
    if (others || by_new_name.at(name) != own) losers.push_back(own);
  }
  std::set<std::string, std::less<>> lost;
  while (!losers.empty()) {
    const std::string_view own = losers.back();
    losers.pop_back();
    if (!lost.emplace(own).second) continue;
    warnings.push_back(fmt::format("{} keeps its name: another tool is called {}", log::printable(own, 200),
                                   log::printable(wanted.find(own)->second, 200)));
    const auto next = by_new_name.find(own);
    if (next != by_new_name.end()) losers.push_back(next->second);
  }
  for (const auto& own : lost)
    wanted.erase(own);
  return wanted;
}

}  // namespace

bool has_wildcard(std::string_view pattern) { return pattern.find_first_of("*?") != std::string_view::npos; }

Shape::Shape(std::vector<ToolShape> tools) : tools_(std::move(tools)) {
  only_tools_.resize(tools_.size(), true);
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    plain_ = plain_ && tools_[i].is_plain();
    for (const auto& pattern : tools_[i].match) {
      if (!EntryPatterns({pattern}).speak_of(Kind::tool)) {
        only_tools_[i] = false;
      } else if (has_wildcard(pattern)) {
        by_pattern_.emplace_back(pattern, i);
      } else {
        by_name_[pattern].push_back(i);
      }
    }
  }
}

// Returns the indices sorted and without duplicates.
std::vector<std::size_t> Shape::fitting(std::string_view own) const {
  std::vector<std::size_t> found;
  if (const auto named = by_name_.find(own); named != by_name_.end()) found = named->second;
  for (const auto& [pattern, shape] : by_pattern_) {
    if (fits(pattern, own)) found.push_back(shape);
  }
  std::ranges::sort(found);
  const auto doubles = std::ranges::unique(found);
  found.erase(doubles.begin(), doubles.end());
  return found;
}

ToolShape Shape::joined(const std::vector<std::size_t>& shapes) const {
  ToolShape all;
  const auto take = [](auto& into, const auto& from) {
    if (from) into = from;
  };
  for (const std::size_t index : shapes) {
    const ToolShape& one = tools_[index];
    if (!one.rename.empty()) all.rename = one.rename;
    take(all.title, one.title);
    take(all.description, one.description);
    take(all.append, one.append);
    take(all.hidden, one.hidden);
    take(all.confirm, one.confirm);
    take(all.timeout, one.timeout);
    for (const auto& [name, text] : one.fixed)
      all.fixed.insert_or_assign(name, text);
    for (const auto& [name, text] : one.defaults)
      all.defaults.insert_or_assign(name, text);
  }
  return all;
}

void Shape::warn_of_unused(ShapeReport& report) const {
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    if (report.fitted[i] > 0 || !only_tools_[i] || report.warnings.size() >= ShapeReport::kMost) continue;
    report.warnings.push_back(fmt::format("tools[{}] fits no tool: {}", i, fmt::join(tools_[i].match, ", ")));
  }
}

Result<Shape::Shaped> Shape::apply(const DefinitionList::Pointer& list, const ListLimits& limits) const {
  Shaped shaped{.list = list, .report = {}};
  shaped.report.fitted.resize(tools_.size());
  if (list->kind() != Kind::tool) return shaped;
  ShapeReport& report = shaped.report;
  DefinitionList::Reshaped reshaped;
  std::vector<std::string> texts;
  std::set<std::string_view> shown;
  bool same = true;
  texts.reserve(list->size());
  for (const Definition& definition : list->definitions()) {
    const auto fitting_shapes = fitting(definition.own);
    for (const std::size_t index : fitting_shapes)
      ++report.fitted[index];
    const ToolShape shape = joined(fitting_shapes);
    if (shape.is_plain()) {
      if (plain_) continue;
      texts.push_back(original_text(Kind::tool, definition));
      shown.insert(definition.own);
      continue;
    }
    same = false;
    if (shape.hidden.value_or(false)) {
      ++report.hidden;
      continue;
    }
    auto work = shape_one(definition, shape);
    if (!work) {
      if (report.omissions.size() < ShapeReport::kMost)
        report.omissions.push_back({Kind::tool, log::printable(definition.own), work.error().message()});
      continue;
    }
    texts.push_back(std::move(work->text));
    shown.insert(definition.own);
    const std::string own(definition.own);
    if (work->calls) reshaped.tools.emplace(own, std::move(work->calls));
    if (!shape.rename.empty() && shape.rename != own) reshaped.names.emplace(own, shape.rename);
  }
  warn_of_unused(report);
  if (same) return shaped;
  reshaped.names = settle_names(std::move(reshaped.names), shown, report.warnings);
  if (report.warnings.size() > ShapeReport::kMost) report.warnings.resize(ShapeReport::kMost);
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  auto built = DefinitionList::build(Kind::tool, views, list->rules(), limits, reshaped);
  if (!built) return std::unexpected(std::move(built.error()));
  shaped.list = std::move(*built);
  for (const Omission& omission : shaped.list->omissions())
    report.omissions.push_back(omission);
  return shaped;
}

}  // namespace proteus::catalog
