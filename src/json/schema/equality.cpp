#include "json/schema/equality.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "json/schema/number.hpp"

namespace proteus::json::schema {
namespace {

using boost::json::kind;

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t more) {
  hash ^= more + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  hash *= 0xbf58476d1ce4e5b9ULL;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_text(std::string_view text, std::size_t& work) {
  work += 1 + text.size() / 16;
  return std::hash<std::string_view>{}(text);
}

std::uint64_t hash_number(const Number& number) {
  return std::visit(
      []<class T>(T value) -> std::uint64_t {
        if constexpr (std::is_same_v<T, double>) {
          return std::bit_cast<std::uint64_t>(value);
        } else {
          return static_cast<std::uint64_t>(value);
        }
      },
      number);
}

}  // namespace

bool equal(const boost::json::value& a, const boost::json::value& b, std::size_t& work) {
  ++work;
  if (const auto number = as_number(a)) return number == as_number(b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case kind::null: return true;
    case kind::bool_: return a.get_bool() == b.get_bool();
    case kind::string:
      if (a.get_string().size() != b.get_string().size()) return false;
      work += a.get_string().size() / 64;
      return a.get_string() == b.get_string();
    case kind::array:
      return std::ranges::equal(a.get_array(), b.get_array(),
                                [&](const auto& left, const auto& right) { return equal(left, right, work); });
    case kind::object: {
      const auto& left = a.get_object();
      const auto& right = b.get_object();
      return left.size() == right.size() && std::ranges::all_of(left, [&](const auto& member) {
               const auto* other = right.if_contains(member.key());
               return other != nullptr && equal(member.value(), *other, work);
             });
    }
    default: return false;
  }
}

std::uint64_t hash(const boost::json::value& value, std::size_t& work) {
  ++work;
  if (const auto number = as_number(value)) return mix(1, hash_number(*number));
  switch (value.kind()) {
    case kind::bool_: return mix(2, value.get_bool() ? 1 : 0);
    case kind::string: return mix(3, hash_text(value.get_string(), work));
    case kind::array: {
      std::uint64_t result = 4;
      for (const auto& item : value.get_array())
        result = mix(result, hash(item, work));
      return result;
    }
    case kind::object: {
      std::uint64_t sum = 0;
      for (const auto& member : value.get_object()) {
        sum += mix(hash_text(member.key(), work), hash(member.value(), work));
      }
      return mix(5, sum);
    }
    default: return 0;
  }
}

}  // namespace proteus::json::schema
