#include <algorithm>
#include <array>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/visible_text.hpp"
#include "catalog/pins.hpp"
#include "json/text.hpp"

namespace proteus::catalog {
namespace {

using Lines = std::vector<std::string>;

// Beyond so many lines a comparison would cost more than it tells.
constexpr std::size_t kMostLines = 2000;
constexpr std::size_t kAround = 2;  // lines that are the same, shown beside those that are not

void add_text(Lines& lines, std::string_view text, std::string_view margin) {
  while (true) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(std::string(margin) + visible_text(text.substr(0, end), LineEnds::kept));
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

// One value, a line for each member and element.
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

// The longest common subsequence decides which lines stay.
std::vector<Line> compared(const Lines& before, const Lines& after) {
  std::vector<Line> out;
  out.reserve(before.size() + after.size());
  std::size_t a = 0;
  std::size_t b = 0;
  if (before.size() <= kMostLines && after.size() <= kMostLines) {
    const std::size_t width = after.size() + 1;
    std::vector<std::uint16_t> common((before.size() + 1) * width, 0);
    for (std::size_t i = before.size(); i-- > 0;) {
      for (std::size_t j = after.size(); j-- > 0;) {
        common[i * width + j] = before[i] == after[j]
                                    ? static_cast<std::uint16_t>(common[(i + 1) * width + j + 1] + 1)
                                    : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
      }
    }
    while (a < before.size() && b < after.size()) {
      if (before[a] == after[b]) {
        out.push_back({' ', &before[a++]});
        ++b;
      } else if (common[(a + 1) * width + b] >= common[a * width + b + 1]) {
        out.push_back({'-', &before[a++]});
      } else {
        out.push_back({'+', &after[b++]});
      }
    }
  }
  while (a < before.size())
    out.push_back({'-', &before[a++]});
  while (b < after.size())
    out.push_back({'+', &after[b++]});
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
