#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What is printed for people.
namespace proteus::app {

enum class Style { bold, dim, green, red, yellow };

// How to print to a descriptor: colours only on a terminal, and not where NO_COLOR says so.
class Terminal {
 public:
  static Terminal of(int descriptor);
  Terminal(bool is_terminal, bool colours, std::size_t width)
      : is_terminal_(is_terminal), colours_(colours), width_(width) {}

  bool is_terminal() const { return is_terminal_; }
  // Of a line; 0: lines are not cut.
  std::size_t width() const { return width_; }
  std::string styled(Style style, std::string_view text) const;

 private:
  bool is_terminal_;
  bool colours_;
  std::size_t width_;
};

// A stranger's text on one line: line ends and runs of white space become one space, and what could control a terminal
// or hide is escaped (`visible_text`).
std::string one_line(std::string_view text);

// The characters a text takes on a line, and its beginning cut to that many, with an ellipsis.
std::size_t columns_of(std::string_view text);
std::string cut(std::string_view text, std::size_t columns);

// Rows of cells under a heading; the last column takes what is left of the line.
class Table {
 public:
  explicit Table(std::vector<std::string> heading) : rows_{std::move(heading)} {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string str(const Terminal& terminal) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace proteus::app
