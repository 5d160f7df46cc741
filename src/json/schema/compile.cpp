#include "json/schema/compile.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>

namespace proteus::json::schema {

Result<std::unique_ptr<const Program>> Compiler::run(const boost::json::value& document) {
  if (auto added = places_.add(document, ""); !added) return std::unexpected(std::move(added).error());
  program_.root = node_for(document);
  // Compiles the whole document, so that faults in unreferenced parts are found, too. Of other documents, only
  // referenced parts are compiled.
  const auto own = places_.all();
  for (const auto* schema : own)
    node_for(*schema);
  do {
    compile_pending();
  } while (!error_ && compile_dynamic_anchors());
  if (!error_) find_endless_references();
  if (error_) return std::unexpected(*std::move(error_));
  return std::make_unique<const Program>(std::move(program_));
}

NodeId Compiler::node_for(const boost::json::value& schema) {
  const auto [entry, added] = ids_.try_emplace(&schema, static_cast<NodeId>(sources_.size()));
  if (added) {
    sources_.push_back(&schema);
    pending_.push_back(entry->second);
  }
  return entry->second;
}

void Compiler::compile_pending() {
  for (; !pending_.empty() && !error_; pending_.pop_front()) {
    const NodeId id = pending_.front();
    const auto& source = *sources_[id];
    place_ = &places_.at(&source);
    object_ = source.if_object();
    node_ = Node{
        .rules = {}, .resource = place_->resource, .never = source.is_bool() && !source.get_bool(), .unevaluated = {}};
    if (object_ != nullptr) compile_rules();
    node_.rules.shrink_to_fit();
    if (program_.nodes.size() <= id) program_.nodes.resize(sources_.size());
    program_.nodes[id] = std::move(node_);
  }
}

std::uint32_t Compiler::anchor_number(std::string_view name) {
  return anchor_numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(anchor_numbers_.size()))
      .first->second;
}

// A dynamic reference may end at an anchor of its name in any resource, so this function makes those anchors of all
// resources known to the evaluator. Returns whether some of them must still be compiled, which may reveal more
// references and resources.
bool Compiler::compile_dynamic_anchors() {
  if (anchor_numbers_.empty()) return false;
  program_.dynamic_anchors.clear();
  program_.dynamic_anchors.resize(places_.resources().size());
  for (std::size_t resource = 0; resource < places_.resources().size(); ++resource) {
    for (const auto& [name, anchor] : places_.resources()[resource].anchors) {
      const auto number = anchor_numbers_.find(name);
      if (!anchor.dynamic || number == anchor_numbers_.end()) continue;
      program_.dynamic_anchors[resource].emplace_back(number->second, node_for(*anchor.schema));
    }
  }
  return !pending_.empty();
}

// Fails if a schema applies itself to the same value again, which never ends for any value.
void Compiler::find_endless_references() {
  enum class State : std::uint8_t { unseen, open, done };
  struct Open {
    NodeId node;
    std::vector<NodeId> next;
  };
  std::vector<State> states(program_.nodes.size(), State::unseen);
  std::vector<Open> path;
  const auto enter = [&](NodeId node) {
    states[node] = State::open;
    path.push_back({node, {}});
    for_each_in_place(program_.nodes[node], [&](NodeId next) { path.back().next.push_back(next); });
  };
  for (NodeId start = 0; start < program_.nodes.size(); ++start) {
    if (states[start] == State::unseen) enter(start);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next.empty()) {
        states[node] = State::done;
        path.pop_back();
        continue;
      }
      const NodeId target = next.back();
      next.pop_back();
      if (states[target] == State::open) {
        const auto where = to_string(places_.at(sources_[target]));
        return fail(
            errors::invalid(fmt::format("schema at {}: refers to itself for the same value, which never ends", where)));
      }
      if (states[target] == State::unseen) enter(target);
    }
  }
}

void Compiler::fail(std::string_view keyword, std::string_view problem) {
  fail(errors::invalid(fmt::format("schema at {}: \"{}\" {}", to_string(*place_), keyword, problem)));
}

void Compiler::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

}  // namespace proteus::json::schema
