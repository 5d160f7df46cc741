#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace proteus::fuzz {

// Aborts if a promise of the code under test is broken.
inline void check(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

inline std::string_view as_text(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// What Boost's parser says about a text, with its strict defaults and the depth limit of our own readers. `unsure` if
// Boost rejects a number because its exponent overflows an int, which is valid JSON.
struct Opinion {
  std::optional<boost::json::value> value;
  bool unsure = false;
};
inline Opinion boost_opinion(std::string_view text, std::size_t depth = 128) {
  boost::json::parse_options options;
  options.max_depth = depth;
  boost::json::error_code status;
  auto value = boost::json::parse(text, status, {}, options);
  if (status) return {std::nullopt, status == boost::json::error::exponent_overflow};
  return {std::move(value), false};
}

// Boost reads a zero with a large exponent as NaN, which equals only its own serialized text.
inline bool same_value(const boost::json::value& a, const boost::json::value& b) {
  return a == b || boost::json::serialize(a) == boost::json::serialize(b);
}

}  // namespace proteus::fuzz
