#include "json/schema/evaluate.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "json/schema/explain.hpp"
#include "json/schema/json_pointer.hpp"

namespace proteus::json::schema {
namespace {

// If no branch of `anyOf` or `oneOf` matches, at most `kBranches` branches are searched for `kFaults` faults each. The
// message shows fewer of both.
constexpr std::size_t kBranches = 16;
constexpr std::size_t kFaults = 8;
constexpr std::size_t kToldBranches = 5;
constexpr std::size_t kToldFaults = 3;

std::size_t size_of(const boost::json::value& container) {
  return container.is_object() ? container.get_object().size() : container.get_array().size();
}

// Whether a branch was not the intended one, because the instance has the wrong type or breaks a `const` or `enum`,
// rather than a detail.
bool meant_otherwise(const std::vector<SchemaError>& faults, std::string_view path) {
  for (const SchemaError& fault : faults) {
    if (fault.keyword == "const" || fault.keyword == "enum") return true;
    if (fault.keyword == "type" && fault.instance_path == path) return true;
  }
  return false;
}

}  // namespace

std::string to_pointer(const Path& path) {
  std::vector<const Path*> way;
  for (const Path* at = &path; at->parent != nullptr; at = at->parent)
    way.push_back(at);
  std::string pointer;
  for (; !way.empty(); way.pop_back()) {
    append_pointer_token(pointer, way.back()->is_index ? fmt::to_string(way.back()->index) : way.back()->name);
  }
  return pointer;
}

bool Evaluator::run(const boost::json::value& instance) {
  const Path root;
  if (!measure(instance, 1)) return stop(Stop::instance_depth);
  return node(program_.root, instance, root, nullptr) && !stopped();
}

SchemaError Evaluator::stop_reason() const {
  std::string why;
  switch (stopped_) {
    case Stop::no: break;
    case Stop::work:
      why = fmt::format("checking stopped after {} steps: the value is too large, or the schema too complex",
                        limits_.work);
      break;
    case Stop::instance_depth: why = fmt::format("is nested deeper than {} levels", limits_.instance_depth); break;
    case Stop::evaluation_depth:
      why = fmt::format("checking stopped where schemas apply schemas {} levels deep", limits_.evaluation_depth);
      break;
  }
  return {.instance_path = "", .keyword = "limit", .message = std::move(why)};
}

bool Evaluator::measure(const boost::json::value& instance, std::size_t depth) {
  if (depth > limits_.instance_depth) return false;
  if (const auto* array = instance.if_array()) {
    for (const auto& item : *array) {
      if (!measure(item, depth + 1)) return false;
    }
  } else if (const auto* object = instance.if_object()) {
    for (const auto& member : *object) {
      if (!measure(member.value(), depth + 1)) return false;
    }
  }
  return true;
}

bool Evaluator::node(NodeId id, const boost::json::value& instance, const Path& path, Evaluated* seen) {
  const Node& node = program_.nodes[id];
  if (!spend(1 + node.rules.size())) return false;
  if (node.never) return fail(path, "false", [] { return "is not allowed"; });
  if (node.rules.empty()) return true;
  if (depth_ == limits_.evaluation_depth) return stop(Stop::evaluation_depth);
  ++depth_;
  const bool enters = !program_.dynamic_anchors.empty() && (scope_.empty() || scope_.back() != node.resource);
  if (enters) scope_.push_back(node.resource);
  Frame frame{.id = id, .instance = instance, .path = path, .seen = seen};
  const bool ok = rules(frame);
  if (enters) scope_.pop_back();
  --depth_;
  return ok;
}

bool Evaluator::rules(Frame& frame) {
  const Node& node = program_.nodes[frame.id];
  const bool looks_back = (frame.instance.is_object() && node.unevaluated.has(Type::object)) ||
                          (frame.instance.is_array() && node.unevaluated.has(Type::array));
  Evaluated* outer = frame.seen;
  std::optional<Evaluated> own;
  if (looks_back) frame.seen = &own.emplace(size_of(frame.instance));

  bool ok = true;
  for (const Rule& rule : node.rules) {
    if (std::visit([&](const auto& each) { return check(each, frame); }, rule)) continue;
    ok = false;
    // If the type is wrong, further errors say nothing useful.
    if (enough() || std::holds_alternative<TypeRule>(rule)) return false;
  }
  if (ok && outer != nullptr && looks_back) outer->add(*own);
  return ok;
}

bool Evaluator::in_place(NodeId id, Frame& frame) {
  if (node(id, frame.instance, frame.path, frame.seen)) return true;
  frame.applied = false;
  return false;
}

bool Evaluator::passes(NodeId id, Frame& frame) {
  const Collecting quietly(*this, nullptr, 0);
  if (frame.seen == nullptr) return node(id, frame.instance, frame.path, nullptr);
  const std::size_t size = size_of(frame.instance);
  Evaluated seen(size);
  if (!spend(size / 16) || !node(id, frame.instance, frame.path, &seen)) return false;
  frame.seen->add(seen);
  return true;
}

std::vector<SchemaError> Evaluator::faults(NodeId id, const boost::json::value& instance, const Path& path) {
  std::vector<SchemaError> found;
  const Collecting here(*this, &found, kFaults);
  node(id, instance, path, nullptr);
  return found;
}

bool Evaluator::check(const ReferenceRule& rule, Frame& frame) { return in_place(rule.target, frame); }

bool Evaluator::check(const DynamicReferenceRule& rule, Frame& frame) {
  for (const std::uint32_t resource : scope_) {
    if (!spend(1 + program_.dynamic_anchors[resource].size())) return false;
    for (const auto& [anchor, schema] : program_.dynamic_anchors[resource]) {
      if (anchor == rule.anchor) return in_place(schema, frame);
    }
  }
  return in_place(rule.otherwise, frame);
}

bool Evaluator::check(const AllOfRule& rule, Frame& frame) {
  bool ok = true;
  for (const NodeId schema : rule.schemas) {
    if (in_place(schema, frame)) continue;
    ok = false;
    if (enough()) return false;
  }
  return ok;
}

bool Evaluator::check(const BranchRule& rule, Frame& frame) {
  std::optional<std::size_t> first;
  std::optional<std::size_t> second;
  for (std::size_t i = 0; i < rule.schemas.size() && !second; ++i) {
    if (!passes(rule.schemas[i], frame)) continue;
    if (rule.match == Match::any && frame.seen == nullptr) return true;
    if (rule.match == Match::exactly_one && first) second = i;
    if (!first) first = i;
  }
  if (first && !second) return true;
  frame.applied = false;
  if (!first) {
    explain_branches(rule, frame);
    return false;
  }
  return fail(frame.path, "oneOf", [&] {
    return fmt::format("must match exactly one of the {} allowed forms, but matches both form {} and form {}",
                       rule.schemas.size(), *first + 1, *second + 1);
  });
}

void Evaluator::explain_branches(const BranchRule& rule, Frame& frame) {
  if (enough()) return;
  const std::string path = to_pointer(frame.path);
  spend(path.size() / 16);
  std::vector<std::vector<SchemaError>> branches;
  std::optional<std::size_t> meant;
  std::size_t candidates = 0;
  for (const NodeId schema : rule.schemas) {
    if (branches.size() == kBranches) break;
    branches.push_back(faults(schema, frame.instance, frame.path));
    if (meant_otherwise(branches.back(), path)) continue;
    meant = branches.size() - 1;
    ++candidates;
  }
  if (stopped()) return;
  if (candidates == 1 && rule.schemas.size() <= kBranches) {
    // Reuses the faults instead of evaluating the branch again, which would double the work at each level of nested
    // branches.
    for (SchemaError& fault : branches[*meant]) {
      if (!enough()) errors_->push_back(std::move(fault));
    }
    return;
  }
  branches.resize(std::min(branches.size(), kToldBranches));
  for (auto& told : branches)
    told.resize(std::min(told.size(), kToldFaults));
  fail(frame.path, rule.match == Match::any ? "anyOf" : "oneOf",
       [&] { return explain::no_branch(branches, rule.schemas.size(), path); });
}

bool Evaluator::check(const NotRule& rule, Frame& frame) {
  {
    const Collecting quietly(*this, nullptr, 0);
    if (!node(rule.schema, frame.instance, frame.path, nullptr)) return true;
  }
  return fail(frame.path, "not", [&] { return explain::negated(program_.nodes[rule.schema]); });
}

bool Evaluator::check(const ConditionRule& rule, Frame& frame) {
  const auto& then = passes(rule.condition, frame) ? rule.met : rule.unmet;
  return !then || in_place(*then, frame);
}

bool Evaluator::spend(std::size_t steps) {
  if (steps > work_left_) return stop(Stop::work);
  work_left_ -= steps;
  return true;
}

bool Evaluator::stop(Stop why) {
  if (stopped_ == Stop::no) stopped_ = why;
  work_left_ = 0;
  return false;
}

void Evaluator::report(const Path& path, std::string_view keyword, std::string message) {
  SchemaError error{.instance_path = to_pointer(path), .keyword = std::string(keyword), .message = std::move(message)};
  // Counts as work, because errors of branches may be collected and dropped again many times.
  spend(50 + error.instance_path.size() / 16);
  errors_->push_back(std::move(error));
}

}  // namespace proteus::json::schema
