#include "base/settings/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/ascii.hpp"

namespace proteus {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t of_the_smallest;
};

constexpr std::array<Unit, 5> kTimes = {{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kSizes = {{{"GiB", 1U << 30U}, {"MiB", 1U << 20U}, {"KiB", 1U << 10U}, {"B", 1}}};

constexpr std::uint64_t kLongest = 3650 * kTimes[0].of_the_smallest;
constexpr std::uint64_t kLargest = 1024 * std::uint64_t{kSizes[0].of_the_smallest};

constexpr std::string_view kDurationForm = "a duration is a whole number with a unit, such as 200ms, 30s, 5m or 1h30m";
constexpr std::string_view kSizeForm = "a size is a whole number with a unit, such as 512B, 16KiB or 4MiB";

Error fault(std::string_view text, std::string_view form) {
  return errors::invalid(fmt::format("\"{}\" is not understood: {}", log::printable(text, 40), form));
}

// A number and the letters after it.
struct Part {
  std::uint64_t number = 0;
  std::string_view unit;
};
Result<Part> take_part(std::string_view& rest, std::string_view text, std::string_view form) {
  Part part;
  const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), part.number);
  if (status == std::errc::result_out_of_range) return std::unexpected(errors::invalid("the number is too large"));
  if (status != std::errc{}) return std::unexpected(fault(text, form));
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  const auto letters = std::ranges::find_if(rest, is_digit);
  part.unit = rest.substr(0, static_cast<std::size_t>(letters - rest.begin()));
  rest.remove_prefix(part.unit.size());
  return part;
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  if (text.starts_with('-')) return std::unexpected(errors::invalid("must not be negative"));
  std::uint64_t total = 0;
  std::string_view rest = text;
  auto next = kTimes.begin();
  do {
    const auto part = take_part(rest, text, kDurationForm);
    if (!part) return std::unexpected(part.error());
    const auto unit = std::find_if(next, kTimes.end(), [&](const Unit& known) { return known.name == part->unit; });
    if (unit == kTimes.end()) return std::unexpected(fault(text, kDurationForm));
    if (part->number > (kLongest - total) / unit->of_the_smallest)
      return std::unexpected(errors::invalid("must be at most ten years"));
    total += part->number * unit->of_the_smallest;
    next = unit + 1;
  } while (!rest.empty());
  return std::chrono::milliseconds(total);
}

std::string write_duration(std::chrono::milliseconds duration) {
  auto left = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
  if (left == 0) return "0s";
  std::string out;
  for (const Unit& unit : kTimes) {
    if (const auto count = left / unit.of_the_smallest; count > 0)
      fmt::format_to(std::back_inserter(out), "{}{}", count, unit.name);
    left %= unit.of_the_smallest;
  }
  return out;
}

Result<ByteSize> parse_size(std::string_view text) {
  if (text.starts_with('-')) return std::unexpected(errors::invalid("must not be negative"));
  std::string_view rest = text;
  const auto part = take_part(rest, text, kSizeForm);
  if (!part) return std::unexpected(part.error());
  const auto unit = std::ranges::find(kSizes, part->unit, &Unit::name);
  if (unit == kSizes.end() || !rest.empty()) return std::unexpected(fault(text, kSizeForm));
  if (part->number > kLargest / unit->of_the_smallest)
    return std::unexpected(errors::invalid("must be at most 1024GiB"));
  return ByteSize(part->number * unit->of_the_smallest);
}

std::string write_size(ByteSize size) {
  if (size.value() == 0) return "0B";
  const auto unit =
      std::ranges::find_if(kSizes, [&](const Unit& known) { return size.value() % known.of_the_smallest == 0; });
  return fmt::format("{}{}", size.value() / unit->of_the_smallest, unit->name);
}

}  // namespace proteus
