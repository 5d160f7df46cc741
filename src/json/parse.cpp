#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <fmt/format.h>

#include "json/text.hpp"

namespace proteus::json {
namespace {

// Limits the large objects of a text. Boost compares each new key with all earlier keys in its bucket, and whoever
// writes the keys can choose the bucket, so an object of n keys may cost n²/2 comparisons.
class ObjectBudget {
 public:
  static constexpr std::size_t kMostMembers = 5792;  // of one object, if all others are small

  // Returns false if the text has too many large objects.
  bool take(std::size_t members) {
    constexpr std::size_t kFew = 128;
    if (members <= kFew) return true;
    if (members > kMostMembers || members * members > left_) return false;
    left_ -= members * members;
    return true;
  }

 private:
  std::size_t left_ = kMostMembers * kMostMembers;
};

// Builds a tree like Boost's own parser, with two differences: it rounds numbers correctly, while Boost 1.81 may be off
// in the last place, and it counts the keys of the text, because a tree keeps only one of several equal keys.
class TreeBuilder {
 public:
  // NOLINTBEGIN(readability-identifier-naming): names that the parser looks for
  static constexpr std::size_t max_object_size = boost::json::object::max_size();
  static constexpr std::size_t max_array_size = boost::json::array::max_size();
  static constexpr std::size_t max_key_size = boost::json::string::max_size();
  static constexpr std::size_t max_string_size = boost::json::string::max_size();
  // NOLINTEND(readability-identifier-naming)
  using Status = boost::system::error_code;
  using Text = boost::json::string_view;

  TreeBuilder() { stack_.reset(); }
  boost::json::value release() { return stack_.release(); }
  std::size_t keys() const { return keys_; }

  bool on_document_begin(Status& /*status*/) { return true; }
  bool on_document_end(Status& /*status*/) { return true; }
  bool on_object_begin(Status& /*status*/) { return true; }
  bool on_object_end(std::size_t size, Status& status) {
    if (!budget_.take(size)) {
      status = boost::json::error::object_too_large;
      return false;
    }
    stack_.push_object(size);
    return true;
  }
  bool on_array_begin(Status& /*status*/) { return true; }
  bool on_array_end(std::size_t size, Status& /*status*/) {
    stack_.push_array(size);
    return true;
  }
  bool on_key_part(Text part, std::size_t /*size*/, Status& /*status*/) {
    stack_.push_chars(part);
    return true;
  }
  bool on_key(Text part, std::size_t /*size*/, Status& /*status*/) {
    stack_.push_key(part);
    ++keys_;
    return true;
  }
  bool on_string_part(Text part, std::size_t /*size*/, Status& /*status*/) {
    stack_.push_chars(part);
    return true;
  }
  bool on_string(Text part, std::size_t /*size*/, Status& /*status*/) {
    stack_.push_string(part);
    return true;
  }
  bool on_number_part(Text /*part*/, Status& /*status*/) { return true; }
  bool on_int64(std::int64_t number, Text /*part*/, Status& /*status*/) {
    stack_.push_int64(number);
    return true;
  }
  bool on_uint64(std::uint64_t number, Text /*part*/, Status& /*status*/) {
    stack_.push_uint64(number);
    return true;
  }
  bool on_double(double approximate, Text part, Status& /*status*/) {
    double exact = 0;
    const auto [stop, status] = std::from_chars(part.data(), part.data() + part.size(), exact);
    // `from_chars` has no value for numbers beyond the range of a double. Boost's approximation is zero or infinity.
    stack_.push_double(status == std::errc{} ? exact : approximate);
    return true;
  }
  bool on_bool(bool value, Status& /*status*/) {
    stack_.push_bool(value);
    return true;
  }
  bool on_null(Status& /*status*/) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(Text /*part*/, Status& /*status*/) { return true; }
  bool on_comment(Text /*part*/, Status& /*status*/) { return true; }

 private:
  boost::json::value_stack stack_;
  std::size_t keys_ = 0;
  ObjectBudget budget_;
};

std::size_t count_keys(const boost::json::value& value) {
  std::size_t count = 0;
  if (const auto* array = value.if_array()) {
    for (const auto& element : *array)
      count += count_keys(element);
  } else if (const auto* object = value.if_object()) {
    count = object->size();
    for (const auto& member : *object)
      count += count_keys(member.value());
  }
  return count;
}

// Returns the position for people: lines and columns count from 1.
std::string position(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, at - begin + 1);
}

}  // namespace

Result<boost::json::value> parse(std::string_view text, std::size_t max_depth) {
  boost::json::parse_options options;
  options.max_depth = max_depth;
  boost::json::basic_parser<TreeBuilder> parser(options);
  boost::system::error_code status;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), status);
  if (!status && used < text.size()) status = boost::json::error::extra_data;
  if (status == boost::json::error::object_too_large) {
    return std::unexpected(errors::too_large("the number of members of large objects", ObjectBudget::kMostMembers));
  }
  if (status) {
    return std::unexpected(errors::invalid(fmt::format("not JSON: {}, at {}", status.message(), position(text, used))));
  }
  auto value = parser.handler().release();
  if (count_keys(value) != parser.handler().keys()) {
    return std::unexpected(errors::invalid("an object has a key twice"));
  }
  return value;
}

}  // namespace proteus::json
