#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace proteus::json {

// Sees to it that no object has a key twice, while a text is walked: what is told here is what the walk comes by.
class UniqueKeys {
 public:
  void open_object() {
    outer_.push_back(first_);
    first_ = keys_.size();
  }
  // False where the object has a key twice.
  bool close_object() {
    const bool unique = keys_.size() - first_ < 2 || are_unique();
    keys_.resize(first_, Key{});
    first_ = outer_.back();
    outer_.pop_back();
    return unique;
  }
  // A key as it is written, quotes included; `end` is that of the text.
  void add(std::string_view raw, bool escaped, const char* end) {
    const std::string_view text = escaped ? decode(raw) : raw.substr(1, raw.size() - 2);
    keys_.push_back({mark_of(text, escaped ? text.data() + text.size() : end), text});
  }
  // Any value that is no string, object or array.
  void pass_scalar(std::string_view value) { long_exponent_ |= value.size() > kLongExponent && is_long(value); }

  // Whether a number has an exponent that may be beyond what a tree can have.
  bool has_long_exponent() const { return long_exponent_; }

 private:
  static constexpr std::size_t kLongExponent = 9;

  // Its length and its first bytes tell a key from most others.
  struct Key {
    std::uint64_t mark = 0;
    std::string_view text{};

    bool operator==(const Key& other) const { return mark == other.mark && text == other.text; }
    bool operator<(const Key& other) const { return mark != other.mark ? mark < other.mark : text < other.text; }
  };

  static std::uint64_t mark_of(std::string_view text, const char* end) {
    std::uint64_t first = 0;
    if (end - text.data() >= 8) {
      std::memcpy(&first, text.data(), sizeof first);
      if (text.size() < 8) first &= (std::uint64_t{1} << (8 * text.size())) - 1;
    } else {
      std::memcpy(&first, text.data(), std::min(text.size(), sizeof first));
    }
    return first ^ (static_cast<std::uint64_t>(text.size()) << 56U);
  }

  std::string_view decode(std::string_view raw);
  bool are_unique();
  static bool is_long(std::string_view value);

  boost::container::small_vector<Key, 32> keys_;  // of all objects that are open
  boost::container::small_vector<std::size_t, 16> outer_;
  std::size_t first_ = 0;  // of the object at hand
  std::vector<std::unique_ptr<std::string>> decoded_;
  bool long_exponent_ = false;
};

}  // namespace proteus::json
