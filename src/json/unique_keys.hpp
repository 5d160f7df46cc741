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

// Detects duplicate keys in the objects of a text. `Tokens` calls these functions for everything that it skips.
class UniqueKeys {
 public:
  void open_object() {
    outer_.push_back(first_);
    first_ = keys_.size();
  }
  // Returns false if the object has a duplicate key.
  bool close_object() {
    const bool unique = keys_.size() - first_ < 2 || are_unique();
    keys_.resize(first_, Key{});
    first_ = outer_.back();
    outer_.pop_back();
    return unique;
  }
  // Adds a raw key with its quotes. `end` is the end of the whole text.
  void add(std::string_view raw, bool escaped, const char* end) {
    const std::string_view text = escaped ? decode(raw) : raw.substr(1, raw.size() - 2);
    keys_.push_back({mark_of(text, escaped ? text.data() + text.size() : end), text});
  }
  // Takes note of a number, true, false or null.
  void pass_scalar(std::string_view value) { long_exponent_ |= value.size() > kLongExponent && is_long(value); }

  // Whether a number has an exponent that `parse` may reject as too large.
  bool has_long_exponent() const { return long_exponent_; }

 private:
  static constexpr std::size_t kLongExponent = 9;

  // `mark` has the length and the first bytes, which distinguish a key from most others.
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

  boost::container::small_vector<Key, 32> keys_;  // of all open objects
  boost::container::small_vector<std::size_t, 16> outer_;
  std::size_t first_ = 0;  // index of the first key of the innermost object
  std::vector<std::unique_ptr<std::string>> decoded_;
  bool long_exponent_ = false;
};

}  // namespace proteus::json
