#include "base/settings/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text/ascii.hpp"

namespace proteus {
namespace {

// Comparing takes time quadratic in the lengths, and names may come from anybody.
constexpr std::size_t kCompared = 64;
constexpr std::size_t kComparedBytes = 32;

// Edit distance that counts swapped neighbours, the most common slip, as one edit.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    std::swap(last, row);
  }
  return last.back();
}

std::string lowered(std::string_view text) {
  std::string result = lower_case(text);
  // Also drops word separators, so that camelCase matches snake_case.
  std::erase_if(result, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return result;
}

}  // namespace

std::string_view nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > kComparedBytes) return {};
  const std::string wanted = lowered(name);
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string_view candidate : candidates.first(std::min(candidates.size(), kCompared))) {
    if (candidate.size() > kComparedBytes) continue;
    const std::string known = lowered(candidate);
    // "phone" for "phone_number" counts as one edit.
    const bool begins = std::min(wanted.size(), known.size()) >= 3 && wanted != known &&
                        (wanted.starts_with(known) || known.starts_with(wanted));
    const std::size_t found = begins ? 1 : distance(wanted, known);
    if (found < best_distance && found < known.size()) {
      best = candidate;
      best_distance = found;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view meant = nearest(name, candidates);
  return meant.empty() ? std::string() : fmt::format("; did you mean {}?", meant);
}

}  // namespace proteus
