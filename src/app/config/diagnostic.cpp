#include "app/config/diagnostic.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/log/log.hpp"

namespace proteus::app {

std::string show(const Diagnostic& diagnostic) {
  std::string out = log::printable(diagnostic.file, std::string_view::npos);
  if (diagnostic.position.line > 0) out += fmt::format(":{}:{}", diagnostic.position.line, diagnostic.position.column);
  if (!out.empty()) out += ": ";
  if (diagnostic.severity == Severity::warning) out += "warning: ";
  if (!diagnostic.path.empty()) out += diagnostic.path + ": ";
  return out + diagnostic.message;
}

boost::json::object write_diagnostic(const Diagnostic& diagnostic) {
  boost::json::object out;
  if (!diagnostic.file.empty()) out.emplace("file", diagnostic.file);
  if (diagnostic.position.line > 0) {
    out.emplace("line", diagnostic.position.line);
    out.emplace("column", diagnostic.position.column);
  }
  if (!diagnostic.path.empty()) out.emplace("key", diagnostic.path);
  if (!diagnostic.pointer.empty()) out.emplace("pointer", diagnostic.pointer);
  out.emplace("message", diagnostic.message);
  return out;
}

void sort_diagnostics(std::vector<Diagnostic>& diagnostics, std::string_view main_file) {
  std::ranges::sort(diagnostics, {}, [&](const Diagnostic& one) {
    return std::tuple(one.file.empty(), one.file != main_file, std::string_view(one.file), one.position,
                      std::string_view(one.path), std::string_view(one.message));
  });
}

}  // namespace proteus::app
