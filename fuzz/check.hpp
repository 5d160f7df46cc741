#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace proteus::fuzz {

// A promise of the code under test; a broken one is a finding.
inline void check(bool kept, const char* promise) {
  if (kept) return;
  std::fprintf(stderr, "broken: %s\n", promise);
  std::abort();
}

inline std::string_view as_text(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The other opinion: Boost's parser in its strict default, as deep as our own readers go. Numbers with an exponent that
// overflows an int are JSON, though Boost says otherwise: `unsure`.
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

// Boost reads a zero with a large exponent as NaN, which equals nothing but in print.
inline bool same_value(const boost::json::value& a, const boost::json::value& b) {
  return a == b || boost::json::serialize(a) == boost::json::serialize(b);
}

}  // namespace proteus::fuzz
