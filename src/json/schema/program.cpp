#include "json/schema/program.hpp"

namespace proteus::json::schema {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

}  // namespace

void for_each_in_place(const Node& node, const std::function<void(NodeId)>& visit) {
  const auto each = [&](const std::vector<NodeId>& schemas) {
    for (const NodeId schema : schemas)
      visit(schema);
  };
  for (const Rule& rule : node.rules) {
    std::visit(Overloaded{
                   [&](const ReferenceRule& reference) { visit(reference.target); },
                   [&](const AllOfRule& all) { each(all.schemas); },
                   [&](const BranchRule& branches) { each(branches.schemas); },
                   [&](const NotRule& negation) { visit(negation.schema); },
                   [&](const ConditionRule& condition) {
                     visit(condition.condition);
                     if (condition.met) visit(*condition.met);
                     if (condition.unmet) visit(*condition.unmet);
                   },
                   [&](const DependentSchemasRule& dependent) {
                     for (const auto& [name, schema] : dependent.schemas)
                       visit(schema);
                   },
                   [](const auto&) {},
               },
               rule);
  }
}

}  // namespace proteus::json::schema
