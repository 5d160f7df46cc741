#include "admin/http/route.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "json/schema/uri.hpp"
#include "json/text.hpp"

namespace proteus::admin {

std::vector<std::pair<std::string_view, std::string_view>> split_query(std::string_view query) {
  std::vector<std::pair<std::string_view, std::string_view>> parts;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    parts.emplace_back(part.substr(0, equals), part.substr(std::min(part.size(), equals + 1)));
  }
  return parts;
}

std::string AdminRequest::variable(std::string_view key) const {
  const auto found = std::ranges::find(variables_, key, [](const auto& variable) { return variable.first; });
  return found == variables_.end() ? std::string() : std::string(found->second);
}

Result<boost::json::value> AdminRequest::body(std::size_t max_depth) const {
  const std::string_view text = exchange_.request().body();
  if (text.size() > kMaxBody) return std::unexpected(errors::too_large("the body", kMaxBody));
  if (text.empty()) return std::unexpected(errors::invalid("the body is empty, and must be JSON"));
  auto parsed = json::parse(text, max_depth);
  if (!parsed) return std::unexpected(std::move(parsed.error()).within("the body"));
  return parsed;
}

std::optional<std::string_view> AdminRequest::parameter(std::string_view name) const {
  for (const auto& [key, value] : split_query(exchange_.request().query())) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<std::optional<std::string>> AdminRequest::text(std::string_view name) const {
  const auto raw = parameter(name);
  if (!raw) return std::nullopt;
  std::string encoded(*raw);
  std::ranges::replace(encoded, '+', ' ');
  auto decoded = json::schema::percent_decoded(encoded);
  if (!decoded) return std::unexpected(errors::invalid(fmt::format("{} is not encoded as a part of a URL", name)));
  return decoded;
}

Result<std::optional<std::uint64_t>> AdminRequest::number(std::string_view name) const {
  const auto text = parameter(name);
  if (!text) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (fault != std::errc{} || end != text->data() + text->size())
    return std::unexpected(errors::invalid(fmt::format("{} must be a whole number, not below zero", name)));
  return value;
}

Result<std::size_t> AdminRequest::limit() const {
  const auto given = number("limit");
  if (!given) return std::unexpected(given.error());
  const std::uint64_t limit = given->value_or(kUsualLimit);
  if (limit == 0 || limit > kMaxLimit) {
    return std::unexpected(errors::invalid(fmt::format("limit must be from 1 to {}", kMaxLimit)));
  }
  return static_cast<std::size_t>(limit);
}

}  // namespace proteus::admin
