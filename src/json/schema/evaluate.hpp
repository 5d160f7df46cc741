#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "json/schema/evaluated.hpp"
#include "json/schema/program.hpp"
#include "json/schema/schema.hpp"

namespace proteus::json::schema {

// A place in the instance, as a chain of objects on the stack. Converted to text only for errors.
struct Path {
  const Path* parent = nullptr;
  std::string_view name;
  std::size_t index = 0;
  bool is_index = false;
};

std::string to_pointer(const Path& path);

// Checks one instance against a Program. Single-use. If `errors` is null, stops at the first failure. Program, limits
// and errors must outlive it.
class Evaluator {
 public:
  Evaluator(const Program& program, const SchemaLimits& limits, std::vector<SchemaError>* errors,
            std::size_t max_errors)
      : program_(program), limits_(limits), errors_(errors), max_errors_(max_errors), work_left_(limits.work) {}

  bool run(const boost::json::value& instance);
  // Whether a limit stopped the evaluation. If so, `run` returns false even if the instance breaks no rule.
  bool stopped() const { return stopped_ != Stop::no; }
  SchemaError stop_reason() const;

 private:
  struct Frame {
    NodeId id;
    const boost::json::value& instance;
    const Path& path;
    Evaluated* seen;      // members or items evaluated so far; null if not needed
    bool applied = true;  // false once a schema applied to the same value failed: `seen` is incomplete
  };
  enum class Stop : std::uint8_t { no, work, instance_depth, evaluation_depth };
  // Redirects errors to another list while it lives; null drops them.
  class Collecting {
   public:
    Collecting(Evaluator& evaluator, std::vector<SchemaError>* errors, std::size_t limit)
        : evaluator_(evaluator),
          errors_(std::exchange(evaluator.errors_, errors)),
          limit_(std::exchange(evaluator.max_errors_, limit)) {}
    ~Collecting() {
      evaluator_.errors_ = errors_;
      evaluator_.max_errors_ = limit_;
    }
    Collecting(const Collecting&) = delete;
    Collecting& operator=(const Collecting&) = delete;

   private:
    Evaluator& evaluator_;
    std::vector<SchemaError>* errors_;
    std::size_t limit_;
  };

  bool measure(const boost::json::value& instance, std::size_t depth);
  bool node(NodeId id, const boost::json::value& instance, const Path& path, Evaluated* seen);
  bool rules(Frame& frame);
  bool in_place(NodeId id, Frame& frame);
  bool passes(NodeId id, Frame& frame);
  std::vector<SchemaError> faults(NodeId id, const boost::json::value& instance, const Path& path);

  bool check(const TypeRule& rule, Frame& frame);
  bool check(const ValuesRule& rule, Frame& frame);
  bool check(const BoundRule& rule, Frame& frame);
  bool check(const MultipleRule& rule, Frame& frame);
  bool check(const CountRule& rule, Frame& frame);
  bool check(const PatternRule& rule, Frame& frame);
  bool check(const UniqueRule& rule, Frame& frame);
  bool check(const RequiredRule& rule, Frame& frame);
  bool check(const DependentRequiredRule& rule, Frame& frame);
  bool check(const DependentSchemasRule& rule, Frame& frame);
  bool check(const PropertiesRule& rule, Frame& frame);
  bool check(const PropertyNamesRule& rule, Frame& frame);
  bool check(const ItemsRule& rule, Frame& frame);
  bool check(const ContainsRule& rule, Frame& frame);
  bool check(const ReferenceRule& rule, Frame& frame);
  bool check(const DynamicReferenceRule& rule, Frame& frame);
  bool check(const AllOfRule& rule, Frame& frame);
  bool check(const BranchRule& rule, Frame& frame);
  bool check(const NotRule& rule, Frame& frame);
  bool check(const ConditionRule& rule, Frame& frame);
  bool check(const UnevaluatedRule& rule, Frame& frame);

  bool member(const PropertiesRule& rule, std::size_t position, Frame& frame);
  bool unevaluated_properties(const UnevaluatedRule& rule, Frame& frame);
  bool unevaluated_items(const UnevaluatedRule& rule, Frame& frame);
  void explain_branches(const BranchRule& rule, Frame& frame);
  bool has(const boost::json::object& object, std::string_view name);
  bool matches(const Pattern& pattern, std::string_view text);

  // The cost of searching for a suggestion ("did you mean").
  static constexpr std::size_t kSuggestionWork = 1000;

  // Subtracts steps from the budget. Returns false and stops the evaluation if too few are left.
  bool spend(std::size_t steps);
  bool stop(Stop why);
  // Whether to stop after a failure, because no further error can be added.
  bool enough() const { return errors_ == nullptr || errors_->size() >= max_errors_ || stopped_ != Stop::no; }

  template <class Message>
  bool fail(const Path& path, std::string_view keyword, Message&& message) {
    if (errors_ != nullptr && errors_->size() < max_errors_ && stopped_ == Stop::no) {
      report(path, keyword, std::forward<Message>(message)());
    }
    return false;
  }
  void report(const Path& path, std::string_view keyword, std::string message);

  const Program& program_;
  const SchemaLimits& limits_;
  std::vector<SchemaError>* errors_;
  std::size_t max_errors_;
  std::size_t work_left_;
  std::size_t depth_ = 0;
  Stop stopped_ = Stop::no;
  std::optional<std::chrono::nanoseconds> cpu_mark_;  // CPU time of the thread at an earlier match
  std::vector<std::uint32_t> scope_;                  // resources on the way to the current schema, outermost first
};

}  // namespace proteus::json::schema
