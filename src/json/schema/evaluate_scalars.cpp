#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <time.h>

#include "base/text/utf8.hpp"
#include "json/schema/equality.hpp"
#include "json/schema/evaluate.hpp"
#include "json/schema/explain.hpp"

namespace proteus::json::schema {
namespace {

TypeSet types_of(const boost::json::value& value) {
  TypeSet types;
  switch (value.kind()) {
    case boost::json::kind::null: types.add(Type::null); break;
    case boost::json::kind::bool_: types.add(Type::boolean); break;
    case boost::json::kind::object: types.add(Type::object); break;
    case boost::json::kind::array: types.add(Type::array); break;
    case boost::json::kind::string: types.add(Type::string); break;
    default:
      types.add(Type::number);
      if (is_integer(*as_number(value))) types.add(Type::integer);
  }
  return types;
}

// Limit of instructions times bytes of one match, because a match cannot be interrupted. At the limit a match takes 0.6
// s in the worst case; a small pattern may match 500 KB of text.
constexpr std::size_t kMaxMatch = 32'000'000;
// CPU time in patterns that counts as one step of work.
constexpr std::chrono::nanoseconds kStep(50);
// Only longer matches read the CPU clock, because that is a system call.
constexpr std::chrono::microseconds kLongMatch(20);

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

bool holds(std::partial_ordering order, Relation relation) {
  switch (relation) {
    case Relation::at_least: return order >= 0;
    case Relation::more_than: return order > 0;
    case Relation::at_most: return order <= 0;
    case Relation::less_than: return order < 0;
  }
  return false;
}

}  // namespace

bool Evaluator::check(const TypeRule& rule, Frame& frame) {
  if ((types_of(frame.instance).bits & rule.allowed.bits) != 0) return true;
  return fail(frame.path, "type", [&] { return explain::wrong_type(rule.allowed, frame.instance); });
}

bool Evaluator::check(const ValuesRule& rule, Frame& frame) {
  std::size_t work = 0;
  bool found = false;
  if (rule.by_hash.empty()) {
    found = std::ranges::any_of(rule.values, [&](const auto& value) { return equal(frame.instance, value, work); });
  } else {
    const std::uint64_t wanted = hash(frame.instance, work);
    const auto same = std::ranges::equal_range(rule.by_hash, wanted, {}, [](const auto& entry) { return entry.first; });
    found = std::ranges::any_of(
        same, [&](const auto& entry) { return equal(frame.instance, rule.values[entry.second], work); });
  }
  if (!spend(work)) return false;
  return found || fail(frame.path, rule.keyword, [&] {
           spend(rule.values.size() > 1 ? kSuggestionWork : 0);
           return explain::wrong_value(rule, frame.instance);
         });
}

bool Evaluator::check(const BoundRule& rule, Frame& frame) {
  const auto number = as_number(frame.instance);
  if (!number || holds(compare(*number, rule.limit), rule.relation)) return true;
  return fail(frame.path, rule.keyword, [&] { return explain::out_of_bounds(rule, *number); });
}

bool Evaluator::check(const MultipleRule& rule, Frame& frame) {
  const auto number = as_number(frame.instance);
  if (!number || is_multiple(*number, rule.divisor)) return true;
  return fail(frame.path, "multipleOf", [&] { return explain::not_a_multiple(rule, *number); });
}

bool Evaluator::check(const CountRule& rule, Frame& frame) {
  std::uint64_t count = 0;
  if (const auto* string = frame.instance.if_string(); string != nullptr && rule.counted == Type::string) {
    if (!spend(string->size() / 64)) return false;
    count = count_characters(*string);
  } else if (const auto* array = frame.instance.if_array(); array != nullptr && rule.counted == Type::array) {
    count = array->size();
  } else if (const auto* object = frame.instance.if_object(); object != nullptr && rule.counted == Type::object) {
    count = object->size();
  } else {
    return true;
  }
  if (holds(count <=> rule.limit, rule.relation)) return true;
  return fail(frame.path, rule.keyword, [&] { return explain::wrong_count(rule, count); });
}

bool Evaluator::check(const PatternRule& rule, Frame& frame) {
  const auto* string = frame.instance.if_string();
  if (string == nullptr || matches(*rule.pattern, *string)) return true;
  return fail(frame.path, "pattern", [&] { return explain::no_match(*rule.pattern, *string); });
}

bool Evaluator::matches(const Pattern& pattern, std::string_view text) {
  if (text.size() > kMaxMatch / pattern.size()) return stop(Stop::work);
  // The cost of a match is unknown in advance: from one step for the whole text to 20 ns for each byte and instruction.
  // So its time is measured.
  if (!cpu_mark_) cpu_mark_ = cpu_time();
  const auto begin = std::chrono::steady_clock::now();
  const bool found = pattern.matches(text);
  std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  // A thread that waited for a core has not worked. Its CPU time since the mark includes that of the match.
  if (took > kLongMatch) {
    const auto now = cpu_time();
    took = std::min(took, now - *std::exchange(cpu_mark_, now));
  }
  return spend(1 + static_cast<std::size_t>(took / kStep)) && found;
}

}  // namespace proteus::json::schema
