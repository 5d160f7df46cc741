#include "server/api/uri_template.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace proteus::server {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  });
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out.push_back(text[at]);
      continue;
    }
    unsigned value = 0;
    if (at + 2 >= text.size()) return std::nullopt;
    const char* const end = text.data() + at + 3;
    const auto [stop, status] = std::from_chars(text.data() + at + 1, end, value, 16);
    if (status != std::errc{} || stop != end) return std::nullopt;
    out.push_back(static_cast<char>(value));
    at += 2;
  }
  return out;
}

}  // namespace

Result<UriTemplate> UriTemplate::parse(std::string_view text) {
  UriTemplate parsed;
  std::size_t at = 0;
  while (true) {
    const auto open = text.find('{', at);
    Part part{std::string(text.substr(at, open - at)), {}, false};
    if (part.literal.find('}') != std::string::npos) {
      return std::unexpected(errors::invalid(fmt::format("the template {} has a stray brace", text)));
    }
    if (open == std::string_view::npos) {
      parsed.parts_.push_back(std::move(part));
      return parsed;
    }
    if (part.literal.empty() && !parsed.parts_.empty()) {
      return std::unexpected(errors::invalid(fmt::format("the template {} has variables with nothing between", text)));
    }
    const auto close = text.find('}', open);
    std::string_view name = text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1);
    part.several = name.starts_with('+');
    if (part.several) name.remove_prefix(1);
    if (close == std::string_view::npos || !is_name(name)) {
      return std::unexpected(
          errors::unsupported(fmt::format("the template {} uses more than {{name}} and {{+name}}", text)));
    }
    part.variable = name;
    parsed.parts_.push_back(std::move(part));
    at = close + 1;
  }
}

// A variable ends where the literal after it occurs next. The last literal must end the URI.
std::optional<UriTemplate::Variables> UriTemplate::match(std::string_view uri) const {
  Variables variables;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (!uri.starts_with(part.literal)) return std::nullopt;
    uri.remove_prefix(part.literal.size());
    if (part.variable.empty()) return uri.empty() ? std::optional(std::move(variables)) : std::nullopt;

    const std::string& next = parts_[i + 1].literal;
    const bool last = parts_[i + 1].variable.empty();
    std::size_t end = uri.size();
    if (last) {
      if (!uri.ends_with(next) || uri.size() == next.size()) return std::nullopt;
      end = uri.size() - next.size();
    } else {
      end = uri.find(next, 1);
      if (end == std::string_view::npos) return std::nullopt;
    }
    const std::string_view value = uri.substr(0, end);
    if (value.empty() || (!part.several && value.find('/') != std::string_view::npos)) return std::nullopt;
    auto decoded = percent_decoded(value);
    if (!decoded) return std::nullopt;
    variables.emplace_back(part.variable, std::move(*decoded));
    uri.remove_prefix(end);
  }
  return std::nullopt;
}

}  // namespace proteus::server
