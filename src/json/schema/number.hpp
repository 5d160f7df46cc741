#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <variant>

#include <boost/json/value.hpp>

namespace proteus::json::schema {

// A JSON number with one representation per mathematical value: int64 if it fits, else uint64 if it fits, else double.
// So 1, 1.0 and 1e0 are the same Number, and two variants are equal if the numbers are.
using Number = std::variant<std::int64_t, std::uint64_t, double>;

std::optional<Number> as_number(const boost::json::value& value);

// Whether the number has no fractional part; 1e300 is an integer.
bool is_integer(const Number& number);

// Compares exactly, even integers beyond 2^53 with doubles. Unordered only for NaN.
std::partial_ordering compare(const Number& a, const Number& b);

// Whether `number` is an integer multiple of `divisor`. Both count as the decimal fractions that were written: 0.0075
// is a multiple of 0.0001, although not in binary.
bool is_multiple(const Number& number, const Number& divisor);

}  // namespace proteus::json::schema
