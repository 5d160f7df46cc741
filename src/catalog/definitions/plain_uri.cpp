#include "catalog/definitions/plain_uri.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace proteus::catalog {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_of_scheme(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') return std::nullopt;
    if (text[at] != '%') {
      out.push_back(text[at]);
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    unsigned char byte = 0;
    const char* const end = text.data() + at + 3;
    const auto read = std::from_chars(text.data() + at + 1, end, byte, 16);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    if (byte < 0x20 || byte == 0x7f || byte == '/' || byte == '\\' || byte == '%') return std::nullopt;
    out.push_back(static_cast<char>(byte));
    at += 2;
  }
  return out;
}

// What stands in front of the path, `scheme://host`, in its plain form, and the rest.
struct Split {
  std::string front;
  std::string_view rest;
};

Split split(std::string_view uri) {
  const auto colon = static_cast<std::size_t>(std::ranges::find_if_not(uri, is_of_scheme) - uri.begin());
  if (colon == 0 || colon == uri.size() || uri[colon] != ':' || !is_letter(uri.front())) return {{}, uri};
  const std::string scheme = lower(uri.substr(0, colon));
  uri.remove_prefix(colon + 1);
  std::string host;
  const bool has_host = uri.starts_with("//");
  if (has_host) {
    uri.remove_prefix(2);
    const std::size_t end = std::min(uri.find_first_of("/?#"), uri.size());
    host = lower(uri.substr(0, end));
    uri.remove_prefix(end);
  }
  if (scheme == "file") return {"file://" + (host == "localhost" ? std::string() : host), uri};
  return {scheme + (has_host ? "://" + host : ":"), uri};
}

// Without empty segments, `.` and `..`. A slash at either end stays.
std::optional<std::string> resolved(std::string_view path) {
  std::vector<std::string_view> kept;
  bool names_folder = path.ends_with('/');
  const bool absolute = path.starts_with('/');
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    at = end + 1;
    if (end == path.size() && (segment == "." || segment == "..")) names_folder = true;
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      kept.push_back(segment);
    } else if (kept.empty()) {
      return std::nullopt;
    } else {
      kept.pop_back();
    }
  }
  std::string out;
  for (const std::string_view segment : kept) {
    if (absolute || !out.empty()) out.push_back('/');
    out += segment;
  }
  if (names_folder && (absolute || !out.empty())) out.push_back('/');
  return out;
}

}  // namespace

std::optional<std::string> plain_uri(std::string_view uri) {
  auto [front, rest] = split(uri);
  const std::size_t path_end = std::min(rest.find_first_of("?#"), rest.size());
  const auto path = decoded(rest.substr(0, path_end));
  const auto host = decoded(front);
  const auto query = decoded(rest.substr(path_end));
  const auto way = path ? resolved(*path) : std::nullopt;
  if (!way || !host || !query) return std::nullopt;
  return lower(*host) + *way + *query;
}

std::string plain_uri_pattern(std::string_view pattern) {
  const auto [front, rest] = split(pattern);
  const auto plain = decoded(front + std::string(rest));
  return plain ? *plain : std::string(pattern);
}

}  // namespace proteus::catalog
