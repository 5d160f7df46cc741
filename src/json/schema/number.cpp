#include "json/schema/number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace proteus::json::schema {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;

__extension__ using Wide = unsigned __int128;

Number canonical(double value) {
  if (std::trunc(value) != value) return value;
  if (value >= -kTwoTo63 && value < kTwoTo63) return static_cast<std::int64_t>(value);
  if (value >= 0 && value < kTwoTo64) return static_cast<std::uint64_t>(value);
  return value;
}

template <class Integer>
std::partial_ordering compare_integer(Integer integer, double value) {
  constexpr double kAbove = std::is_signed_v<Integer> ? kTwoTo63 : kTwoTo64;
  constexpr double kLowest = std::is_signed_v<Integer> ? -kTwoTo63 : 0.0;
  if (std::isnan(value)) return std::partial_ordering::unordered;
  if (value >= kAbove) return std::partial_ordering::less;
  if (value < kLowest) return std::partial_ordering::greater;
  const auto whole = static_cast<Integer>(value);
  if (integer != whole) return integer <=> whole;
  return 0.0 <=> (value - std::trunc(value));
}

// mantissa * 10^exponent, without sign and trailing zeros
struct Decimal {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

Decimal stripped(Decimal decimal) {
  while (decimal.mantissa != 0 && decimal.mantissa % 10 == 0) {
    decimal.mantissa /= 10;
    ++decimal.exponent;
  }
  return decimal;
}

// Returns the shortest decimal that reads back as the same double. That is what the author wrote, up to 15 digits.
std::optional<Decimal> shortest(double value) {
  if (!std::isfinite(value)) return std::nullopt;
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), std::fabs(value), std::chars_format::scientific);
  if (error != std::errc{}) return std::nullopt;
  Decimal decimal;
  const char* at = text.data();
  int fraction = 0;
  for (bool after_point = false; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      after_point = true;
      continue;
    }
    decimal.mantissa = decimal.mantissa * 10 + static_cast<std::uint64_t>(*at - '0');
    if (after_point) ++fraction;
  }
  int exponent = 0;
  if (at != end) ++at;
  if (at != end && *at == '+') ++at;
  std::from_chars(at, end, exponent);
  decimal.exponent = exponent - fraction;
  return stripped(decimal);
}

std::optional<Decimal> decimal(const Number& number) {
  if (const auto* value = std::get_if<double>(&number)) return shortest(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&number)) return stripped({*value, 0});
  const std::int64_t value = std::get<std::int64_t>(number);
  const auto bits = static_cast<std::uint64_t>(value);
  return stripped({value < 0 ? ~bits + 1 : bits, 0});
}

}  // namespace

std::optional<Number> as_number(const boost::json::value& value) {
  switch (value.kind()) {
    case boost::json::kind::int64: return value.get_int64();
    case boost::json::kind::uint64: {
      const std::uint64_t number = value.get_uint64();
      if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return static_cast<std::int64_t>(number);
      }
      return number;
    }
    case boost::json::kind::double_: return canonical(value.get_double());
    default: return std::nullopt;
  }
}

bool is_integer(const Number& number) {
  const auto* value = std::get_if<double>(&number);
  return value == nullptr || (std::isfinite(*value) && std::trunc(*value) == *value);
}

std::partial_ordering compare(const Number& a, const Number& b) {
  return std::visit(
      []<class A, class B>(A left, B right) -> std::partial_ordering {
        if constexpr (std::is_same_v<A, B>) {
          return left <=> right;
        } else if constexpr (std::is_same_v<B, double>) {
          return compare_integer(left, right);
        } else if constexpr (std::is_same_v<A, double>) {
          return 0 <=> compare_integer(right, left);
        } else {
          return std::cmp_less(left, right) ? std::partial_ordering::less : std::partial_ordering::greater;
        }
      },
      a, b);
}

bool is_multiple(const Number& number, const Number& divisor) {
  const auto value = decimal(number);
  const auto step = decimal(divisor);
  if (!value || !step || step->mantissa == 0) return false;
  if (value->mantissa == 0) return true;

  int shift = value->exponent - step->exponent;
  if (shift < 0) {
    Wide scaled = step->mantissa;
    for (; shift < 0; ++shift) {
      scaled *= 10;
      if (scaled > value->mantissa) return false;
    }
    return value->mantissa % scaled == 0;
  }
  Wide rest = value->mantissa % step->mantissa;
  for (; shift > 0 && rest != 0; --shift)
    rest = rest * 10 % step->mantissa;
  return rest == 0;
}

}  // namespace proteus::json::schema
