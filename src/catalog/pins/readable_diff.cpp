#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/visible_text.hpp"
#include "catalog/pins/pins.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

using Lines = std::vector<std::string>;

// Beyond this many removed and added lines, a comparison costs more than its result is worth.
constexpr std::ptrdiff_t kMostChanges = 256;
constexpr std::size_t kAround = 2;  // unchanged lines shown around changed ones

void add_text(Lines& lines, std::string_view text, std::string_view margin) {
  while (true) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(std::string(margin) + visible_text(text.substr(0, end), LineEnds::kept));
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

// Adds a line for each member and element of a value.
void add_value(Lines& lines, std::string head, const boost::json::value& value, const std::string& margin) {
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    lines.push_back(margin + head + "{");
    std::vector<std::string_view> keys;
    keys.reserve(object->size());
    for (const auto& member : *object)
      keys.push_back(member.key());
    std::ranges::sort(keys);
    for (const std::string_view key : keys)
      add_value(lines, visible_json(json::quote(key)) + ": ", object->at(key), margin + "  ");
    lines.push_back(margin + "}");
  } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    lines.push_back(margin + head + "[");
    for (const auto& element : *array)
      add_value(lines, "", element, margin + "  ");
    lines.push_back(margin + "]");
  } else {
    lines.push_back(margin + std::move(head) + visible_json(boost::json::serialize(value)));
  }
}

Lines lines_of(std::string_view kind, std::string_view text) {
  Lines lines;
  if (text.empty()) return lines;
  const auto value = kind == kInstructions ? Result<boost::json::value>() : json::parse(text);
  if (kind == kInstructions || !value || !value->is_object()) {
    add_text(lines, text, "");
    return lines;
  }
  const auto& object = value->get_object();
  static constexpr std::array<std::string_view, 3> kFirst = {"name", "title", "description"};
  for (const std::string_view key : kFirst) {
    const auto* member = object.if_contains(key);
    if (member == nullptr) continue;
    if (member->is_string() && key == "description") {
      lines.emplace_back("description:");
      add_text(lines, member->get_string(), "  ");
    } else {
      add_value(lines, std::string(key) + ": ", *member, "");
    }
  }
  for (const auto& member : object) {
    if (std::ranges::find(kFirst, std::string_view(member.key())) == kFirst.end())
      add_value(lines, visible_text(member.key()) + ": ", member.value(), "");
  }
  return lines;
}

struct Line {
  char mark;
  const std::string* text;
};

// Gives equal lines equal numbers, so that comparing two lines takes the same time however long they are.
class Numbers {
 public:
  std::vector<std::uint32_t> of(const Lines& lines) {
    std::vector<std::uint32_t> out;
    out.reserve(lines.size());
    for (const std::string& line : lines)
      out.push_back(numbers_.emplace(line, static_cast<std::uint32_t>(numbers_.size())).first->second);
    return out;
  }

 private:
  std::map<std::string_view, std::uint32_t> numbers_;
};

// Finds a shortest sequence of removed and added lines that turns one text into the other: Myers, "An O(ND) Difference
// Algorithm and Its Variations", 1986. Tries sequences of 0, 1, 2 and more changes, up to kMostChanges, and so takes at
// most about 2 * kMostChanges steps per line.
class ShortestWay {
 public:
  using Text = std::span<const std::uint32_t>;

  ShortestWay(Text before, Text after) : before_(before), after_(after) {}

  // Marks the lines that stay in both texts. The texts begin at index `skipped` of the marks. Marks none if more than
  // kMostChanges changes are needed.
  void mark(std::vector<bool>& stays_before, std::vector<bool>& stays_after, std::size_t skipped) {
    const auto changes = find();
    if (!changes) return;
    walk_back(*changes, [&](Count a, Count b) {
      stays_before[skipped + static_cast<std::size_t>(a)] = true;
      stays_after[skipped + static_cast<std::size_t>(b)] = true;
    });
  }

 private:
  using Count = std::ptrdiff_t;
  // How many lines of `before` are done, by diagonal: the lines done of `before` minus those done of `after`.
  using Frontier = std::vector<Count>;

  static bool adds(Count below, Count above, Count diagonal, Count changes) {
    return diagonal == -changes || (diagonal != changes && below < above);
  }

  std::optional<Count> find() {
    const Count size_before = std::ssize(before_);
    const Count size_after = std::ssize(after_);
    const Count most = std::min(kMostChanges, size_before + size_after);
    Frontier all(static_cast<std::size_t>(2 * most + 3), 0);
    const auto reach = [&](Count diagonal) -> Count& { return all[static_cast<std::size_t>(diagonal + most + 1)]; };
    for (Count changes = 0; changes <= most; ++changes) {
      reached_.emplace_back(&reach(-changes - 1), &reach(changes + 1) + 1);
      for (Count diagonal = -changes; diagonal <= changes; diagonal += 2) {
        const Count below = reach(diagonal - 1);
        const Count above = reach(diagonal + 1);
        Count a = adds(below, above, diagonal, changes) ? above : below + 1;
        while (a < size_before && a - diagonal < size_after && a >= diagonal &&
               before_[static_cast<std::size_t>(a)] == after_[static_cast<std::size_t>(a - diagonal)])
          ++a;
        reach(diagonal) = a;
        if (a >= size_before && a - diagonal >= size_after) return changes;
      }
    }
    return std::nullopt;
  }

  template <class Stay>
  void walk_back(Count changes, Stay&& stay) const {
    Count a = std::ssize(before_);
    Count b = std::ssize(after_);
    for (; changes >= 0; --changes) {
      const Frontier& reached = reached_[static_cast<std::size_t>(changes)];
      const auto reach = [&](Count diagonal) { return reached[static_cast<std::size_t>(diagonal + changes + 1)]; };
      const Count diagonal = a - b;
      Count from_a = 0;
      Count from_b = 0;
      if (changes > 0) {
        const bool added = adds(reach(diagonal - 1), reach(diagonal + 1), diagonal, changes);
        from_a = reach(added ? diagonal + 1 : diagonal - 1);
        from_b = from_a - (added ? diagonal + 1 : diagonal - 1);
      }
      while (a > from_a && b > from_b)
        stay(--a, --b);
      a = from_a;
      b = from_b;
    }
  }

  Text before_;
  Text after_;
  std::vector<Frontier> reached_;  // state before each number of changes was tried
};

std::vector<Line> compared(const Lines& before, const Lines& after) {
  Numbers numbers;
  const auto old = numbers.of(before);
  const auto now = numbers.of(after);
  std::vector<bool> stays_before(before.size(), false);
  std::vector<bool> stays_after(after.size(), false);
  std::size_t front = 0;
  std::size_t back = 0;
  const std::size_t shorter = std::min(old.size(), now.size());
  while (front < shorter && old[front] == now[front])
    ++front;
  while (back < shorter - front && old[old.size() - back - 1] == now[now.size() - back - 1])
    ++back;
  const auto between = [&](const auto& numbered) {
    return std::span(numbered).subspan(front).first(numbered.size() - front - back);
  };
  ShortestWay(between(old), between(now)).mark(stays_before, stays_after, front);
  for (const auto stays : {&stays_before, &stays_after}) {
    std::fill_n(stays->begin(), front, true);
    std::fill_n(stays->rbegin(), back, true);
  }

  std::vector<Line> out;
  out.reserve(before.size() + after.size());
  for (std::size_t a = 0, b = 0; a < before.size() || b < after.size();) {
    if (a < before.size() && !stays_before[a]) {
      out.push_back({'-', &before[a++]});
    } else if (b < after.size() && !stays_after[b]) {
      out.push_back({'+', &after[b++]});
    } else {
      out.push_back({' ', &before[a++]});
      ++b;
    }
  }
  return out;
}

}  // namespace

std::string readable_diff(std::string_view kind, std::string_view before, std::string_view after) {
  const Lines old = lines_of(kind, before);
  const Lines now = lines_of(kind, after);
  const auto lines = compared(old, now);
  std::vector<bool> shown(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].mark == ' ') continue;
    for (std::size_t j = i < kAround ? 0 : i - kAround; j < std::min(lines.size(), i + kAround + 1); ++j)
      shown[j] = true;
  }
  std::string out;
  bool skipped = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!shown[i]) {
      skipped = true;
      continue;
    }
    if (std::exchange(skipped, false)) out += "  …\n";
    out += fmt::format("{} {}\n", lines[i].mark, *lines[i].text);
  }
  if (skipped && !out.empty()) out += "  …\n";
  return out;
}

}  // namespace proteus::catalog
