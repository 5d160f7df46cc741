#include "datasets/mapping/problem.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::datasets {

std::string_view to_string(ProblemKind kind) {
  switch (kind) {
    case ProblemKind::syntax: return "syntax";
    case ProblemKind::unknown_table: return "unknown_table";
    case ProblemKind::unknown_column: return "unknown_column";
    case ProblemKind::unmapped_end: return "unmapped_end";
    case ProblemKind::unknown_type: return "unknown_type";
    case ProblemKind::wrong_domain: return "wrong_domain";
    case ProblemKind::wrong_range: return "wrong_range";
    case ProblemKind::no_key: return "no_key";
    case ProblemKind::unusable: return "unusable";
    case ProblemKind::doubtful: return "doubtful";
  }
  return "unusable";
}

bool any_refuses(const Problems& problems) {
  return std::ranges::any_of(problems, [](const Problem& problem) { return problem.refuses(); });
}

std::string show(std::string_view file, const Problem& problem) {
  std::string text(file);
  if (problem.position.line > 0) text += fmt::format(":{}:{}", problem.position.line, problem.position.column);
  if (!text.empty()) text += ": ";
  if (!problem.path.empty()) text += problem.path + ": ";
  return text + problem.message;
}

boost::json::object write_problem(const Problem& problem) {
  boost::json::object out{{"kind", to_string(problem.kind)}, {"message", problem.message}};
  if (!problem.path.empty()) out.emplace("path", problem.path);
  if (problem.position.line > 0) {
    out.emplace("line", problem.position.line);
    out.emplace("column", problem.position.column);
  }
  return out;
}

std::string shown(std::string_view name) { return log::printable(name, 100); }

}  // namespace proteus::datasets
