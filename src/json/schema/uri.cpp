#include "json/schema/uri.hpp"

#include <charconv>

namespace proteus::json::schema {
namespace {

struct Components {
  std::string_view scheme;     // with the colon
  std::string_view authority;  // with the slashes
  std::string_view path;
  std::string_view query;  // with the question mark
};

bool is_scheme(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !letter(text.front())) return false;
  for (const char c : text) {
    if (!letter(c) && !(c >= '0' && c <= '9') && c != '+' && c != '-' && c != '.') return false;
  }
  return true;
}

Components split(std::string_view uri) {
  Components parts;
  if (const auto colon = uri.find(':'); colon != std::string_view::npos && is_scheme(uri.substr(0, colon))) {
    parts.scheme = uri.substr(0, colon + 1);
    uri.remove_prefix(colon + 1);
  }
  if (uri.starts_with("//")) {
    parts.authority = uri.substr(0, uri.find_first_of("/?", 2));
    uri.remove_prefix(parts.authority.size());
  }
  parts.path = uri.substr(0, uri.find('?'));
  parts.query = uri.substr(parts.path.size());
  return parts;
}

std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const auto length = path.find('/', 1);
    const std::string_view segment = path.substr(0, length);
    const bool last = length == std::string_view::npos;
    path.remove_prefix(last ? path.size() : length);
    if (segment == "/." || segment == ".") {
      if (last) out.push_back('/');
    } else if (segment == "/.." || segment == "..") {
      const auto parent = out.find_last_of('/');
      out.resize(parent == std::string::npos ? 0 : parent);
      if (last) out.push_back('/');
    } else {
      out += segment;
    }
  }
  return out;
}

std::string merged(const Components& base, std::string_view path) {
  if (!base.authority.empty() && base.path.empty()) return "/" + std::string(path);
  const auto slash = base.path.find_last_of('/');
  return std::string(slash == std::string_view::npos ? "" : base.path.substr(0, slash + 1)).append(path);
}

}  // namespace

UriParts split_fragment(std::string_view reference) {
  const auto hash = reference.find('#');
  if (hash == std::string_view::npos) return {reference, {}};
  return {reference.substr(0, hash), reference.substr(hash + 1)};
}

std::string resolve_uri(std::string_view base, std::string_view reference) {
  if (reference.empty()) return std::string(base);
  if (base.empty()) return std::string(reference);
  const Components from = split(base);
  const Components to = split(reference);
  std::string out;
  if (!to.scheme.empty()) {
    out.append(to.scheme).append(to.authority);
    return out.append(to.authority.empty() && !to.path.starts_with('/') ? std::string(to.path) : without_dots(to.path))
        .append(to.query);
  }
  out.append(from.scheme);
  if (!to.authority.empty()) return out.append(to.authority).append(without_dots(to.path)).append(to.query);
  out.append(from.authority);
  if (to.path.empty()) return out.append(from.path).append(to.query.empty() ? from.query : to.query);
  const std::string path = to.path.starts_with('/') ? std::string(to.path) : merged(from, to.path);
  return out.append(without_dots(path)).append(to.query);
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    unsigned byte = 0;
    const char* end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, byte, 16).ptr != end) return std::nullopt;
    out.push_back(static_cast<char>(byte));
    i += 2;
  }
  return out;
}

}  // namespace proteus::json::schema
