#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "json/schema/places.hpp"
#include "json/schema/program.hpp"
#include "json/schema/schema.hpp"

namespace proteus::json::schema {

// Compiles each schema that Places has found into a Node, without recursion. Single-use and not thread-safe. The
// options must outlive it.
class Compiler {
 public:
  explicit Compiler(const SchemaOptions& options) : options_(options), places_(options) {}

  Result<std::unique_ptr<const Program>> run(const boost::json::value& document);

 private:
  // compile.cpp: nodes, references, anchors
  NodeId node_for(const boost::json::value& schema);
  void compile_pending();
  bool compile_dynamic_anchors();
  void find_endless_references();
  std::uint32_t anchor_number(std::string_view name);

  // rules.cpp: the keywords of the current schema, in the order of evaluation
  void compile_rules();
  void assertions();
  void count(std::string_view keyword, Type counted, Relation relation);
  void bound(std::string_view keyword, Relation relation);
  void type();
  void values();
  void multiple();
  void required();
  void dependencies();
  void properties();
  void items();
  void contains();
  void references();
  void branches();
  void unevaluated();

  const boost::json::value* find(std::string_view keyword) const;
  std::optional<NodeId> schema(std::string_view keyword);
  std::vector<NodeId> schemas(std::string_view keyword);
  std::optional<NodeId> reference(std::string_view keyword, std::string_view& dynamic_anchor);
  std::optional<std::uint64_t> count_value(std::string_view keyword);
  std::vector<std::string> names(std::string_view keyword, const boost::json::value& list);
  const boost::json::object* members(std::string_view keyword);
  std::shared_ptr<const Pattern> pattern(std::string_view keyword, std::string_view text);
  template <class R>
  void add(R rule) {
    node_.rules.emplace_back(std::move(rule));
  }

  // Records the first fault, which ends the compilation.
  void fail(std::string_view keyword, std::string_view problem);
  void fail(Error error);

  const SchemaOptions& options_;
  Places places_;
  Program program_;
  std::unordered_map<const boost::json::value*, NodeId> ids_;
  std::vector<const boost::json::value*> sources_;  // indexed by NodeId
  std::deque<NodeId> pending_;
  std::unordered_map<std::string, std::uint32_t> anchor_numbers_;
  std::unordered_set<const Pattern*> patterns_;
  std::size_t pattern_instructions_ = 0;
  std::optional<Error> error_;

  // The current schema.
  const boost::json::object* object_ = nullptr;
  const Place* place_ = nullptr;
  Node node_;
};

}  // namespace proteus::json::schema
