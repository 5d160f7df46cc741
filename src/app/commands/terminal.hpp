#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Helpers for output that people read.
namespace proteus::app {

enum class Style { bold, dim, green, red, yellow };

// How to print to a file descriptor: with colours only on a terminal, and not if NO_COLOR is set or TERM is "dumb".
class Terminal {
 public:
  static Terminal of(int descriptor);
  Terminal(bool is_terminal, bool colours, std::size_t width)
      : is_terminal_(is_terminal), colours_(colours), width_(width) {}

  bool is_terminal() const { return is_terminal_; }
  // Returns the width of a line; 0 means unlimited.
  std::size_t width() const { return width_; }
  std::string styled(Style style, std::string_view text) const;

 private:
  bool is_terminal_;
  bool colours_;
  std::size_t width_;
};

// Returns untrusted text on one line: line ends and runs of white space become one space, and characters that could
// control a terminal or hide text are escaped (see `visible_text`).
std::string one_line(std::string_view text);

// Returns the number of code points: wide characters count as one column.
std::size_t columns_of(std::string_view text);
// Shortens a text to this many columns, with an ellipsis.
std::string cut(std::string_view text, std::size_t columns);

// Rows of cells under a heading. The last column takes the rest of the line.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string str(const Terminal& terminal) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace proteus::app
