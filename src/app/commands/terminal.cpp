#include "app/commands/terminal.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace proteus::app {
namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kMaxCell = 48;  // of every column but the last
constexpr std::string_view kGap = "  ";

std::string_view code_of(Style style) {
  switch (style) {
    case Style::bold: return "1";
    case Style::dim: return "2";
    case Style::green: return "32";
    case Style::red: return "31";
    case Style::yellow: return "33";
  }
  return "0";
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

Terminal Terminal::of(int descriptor) {
  if (::isatty(descriptor) == 0) return {false, false, 0};
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const bool colours = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return {true, colours, known ? size.ws_col : kUsualWidth};
}

std::string Terminal::styled(Style style, std::string_view text) const {
  if (!colours_ || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(style), text);
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return visible_text(out);
}

std::size_t columns_of(std::string_view text) { return count_characters(text); }

std::string cut(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  std::size_t end = 0;
  std::size_t taken = 0;
  while (end < text.size() && taken + 1 < columns) {
    ++end;
    while (end < text.size() && is_continuation(text[end]))
      ++end;
    ++taken;
  }
  return columns == 0 ? std::string() : std::string(text.substr(0, end)) + "…";
}

std::string Table::str(const Terminal& terminal) const {
  const std::size_t last = rows_.front().size() - 1;
  std::vector<std::size_t> widths(last + 1, 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < last; ++i)
      widths[i] = std::max(widths[i], columns_of(row[i]));
  }
  std::size_t before_last = 0;
  for (std::size_t i = 0; i < last; ++i) {
    if (terminal.width() > 0) widths[i] = std::min(widths[i], kMaxCell);
    before_last += widths[i] + kGap.size();
  }
  const std::size_t left =
      terminal.width() > before_last + kGap.size() ? terminal.width() - before_last - kGap.size() : 0;
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line(kGap);
    for (std::size_t i = 0; i <= last; ++i) {
      const std::size_t width = i == last ? left : widths[i];
      const std::string cell = terminal.width() > 0 ? cut(rows_[r][i], width) : rows_[r][i];
      const Style style = r == 0 ? Style::dim : Style::bold;
      line += i == last && r > 0 ? cell : terminal.styled(style, cell);
      if (i < last) line += std::string(widths[i] - columns_of(cell), ' ').append(kGap);
    }
    out += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

}  // namespace proteus::app
