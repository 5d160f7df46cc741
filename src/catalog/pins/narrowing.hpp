#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "catalog/pins/schema_change.hpp"

namespace proteus::catalog {

// Looks for values that one schema accepts and another may reject, keyword by keyword, and describes them in words. The
// work is bounded, because both schemas are untrusted and alternatives within alternatives would multiply it.
class Narrowing {
 public:
  // `inverted`: whether a keyword in one of the schemas turns a wider definition into a narrower schema.
  Narrowing(SchemaOf direction, bool inverted) : direction_(direction), inverted_(inverted) {}

  // For input `from` is the old schema, for output the new one.
  void compare(const boost::json::value& from, const boost::json::value& to);
  std::vector<std::string> take();

 private:
  using value = boost::json::value;
  using object = boost::json::object;

  // Limits: pairs of schemas, and work: one unit per value and one per kTextOfOne bytes of text.
  static constexpr std::size_t kMaxSteps = 20'000;
  static constexpr std::size_t kMaxWork = 1'000'000;
  static constexpr std::size_t kTextOfOne = 64;

  enum class Wanted : std::uint8_t { reasons, whether };  // all of them, or whether there is one
  struct Cost {
    std::size_t steps = 0;
    std::size_t work = 0;
  };

  bool spent() const { return cost_.steps > kMaxSteps || cost_.work > kMaxWork; }
  // Whether nothing else needs to be found out.
  bool done() const { return spent() || (wanted_ == Wanted::whether && !reasons_.empty()); }

  // These charge for every value they look at. Once the limits are exceeded, their results no longer matter.
  bool equal(const value& a, const value& b);
  bool same(const value* a, const value* b) { return a == nullptr || b == nullptr ? a == b : equal(*a, *b); }
  std::string canonical(const value& what);
  std::string shown(const value& what);

  // Adds a reason: `as_input` if `from` is the old schema, `as_output` if `to` is.
  void say(std::string_view as_input, std::string_view as_output);
  void unknown(std::string_view keyword);

  template <class Work>
  void below(std::string_view key, Work&& work) {
    const std::size_t length = path_.size();
    constexpr std::size_t kLongestPath = 400;
    if (length < kLongestPath) path_ += fmt::format("/{}", log::printable(key, 100));
    work();
    path_.resize(length);
  }

  // Whether `to` certainly accepts everything that `from` accepts. Adds no reasons.
  template <class From>
  bool accepts_all(const From& from, const value& to) {
    Narrowing trial(direction_, inverted_);
    trial.wanted_ = Wanted::whether;
    trial.cost_ = cost_;
    trial.compare(from, to);
    cost_ = trial.cost_;
    return trial.reasons_.empty();
  }
  void compare(const object& from, const value& to);
  void compare_objects(const object& from, const object& to);

  // Returns the object at a key; an empty object if there is none.
  static const object& object_at(const object& schema, std::string_view key);

  // The functions below compare one keyword each, or a few that belong together.
  std::set<std::string_view> types_of(const object& schema);
  void compare_types(const object& from, const object& to);
  void compare_values(const object& from, const object& to);
  void compare_bounds(const object& from, const object& to);
  template <class Within>
  void compare_bound(const object& from, const object& to, std::string_view key, Within&& within);
  std::set<std::string_view> required_of(const object& schema);
  void compare_properties(const object& from, const object& to);
  void compare_items(const object& from, const object& to);
  // Each alternative of `from` must fit into one of `to`.
  void compare_alternatives(const object& from, const object& to);
  void compare_conjunction(const object& from, const object& to);
  // Compares what references lead to. The references themselves must be equal, see `compare_rest`.
  void compare_definitions(const object& from, const object& to);
  // Compares the keywords that no function above understands: they must be equal.
  void compare_rest(const object& from, const object& to);

  SchemaOf direction_;
  bool inverted_;
  Wanted wanted_ = Wanted::reasons;
  Cost cost_;
  std::string path_;
  std::vector<std::string> reasons_;
};

}  // namespace proteus::catalog
