#include "catalog/definitions/plain_uri.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/text/ascii.hpp"

namespace proteus::catalog {
namespace {

bool is_of_scheme(char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; }

bool is_wildcard(char c) { return c == '*' || c == '?'; }

bool is_control(unsigned char byte) { return byte < 0x20 || byte == 0x7f; }

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' || is_control(static_cast<unsigned char>(text[at]))) return std::nullopt;
    if (text[at] != '%') {
      out.push_back(text[at]);
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    unsigned char byte = 0;
    const char* const end = text.data() + at + 3;
    const auto read = std::from_chars(text.data() + at + 1, end, byte, 16);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    if (is_control(byte) || byte == '/' || byte == '\\' || byte == '%') return std::nullopt;
    out.push_back(static_cast<char>(byte));
    at += 2;
  }
  return out;
}

enum class Text : std::uint8_t { uri, pattern };

// A URI or pattern, split into its normalized `scheme://host` and everything after it.
struct Split {
  std::string front;
  std::string_view default_port;  // with its colon, if `front` means that port without having it
  std::string_view rest;
};

struct Host {
  std::string text;
  std::string_view default_port;  // like that of Split
};

std::string_view default_port_of(std::string_view scheme) {
  if (scheme == "http") return ":80";
  return scheme == "https" ? ":443" : "";
}

// Writes the port without leading zeros, and leaves it out if it is empty or the default.
Host with_plain_port(std::string_view host, std::string_view default_port) {
  if (default_port.empty()) return {std::string(host), {}};
  const std::size_t colon = host.find(':', host.find_last_of("@]") + 1);
  if (colon == std::string_view::npos) return {std::string(host), default_port};
  std::string_view port = host.substr(colon + 1);
  if (!std::ranges::all_of(port, is_digit)) return {std::string(host), {}};
  while (port.size() > 1 && port.starts_with('0'))
    port.remove_prefix(1);
  std::string text(host.substr(0, colon));
  if (port.empty() || port == default_port.substr(1)) return {std::move(text), default_port};
  return {text.append(":").append(port), {}};
}

// Returns where the host at the beginning of `text` ends. Up to `wildcards` question marks are part of it.
std::size_t host_end(std::string_view text, std::size_t wildcards) {
  std::size_t end = text.find_first_of("/?#");
  for (; wildcards > 0 && end != std::string_view::npos && text[end] == '?'; --wildcards)
    end = text.find_first_of("/?#", end + 1);
  return std::min(end, text.size());
}

// Up to `wildcards` question marks are part of the host. Returns nothing if the host cannot be decoded.
std::optional<Split> split(std::string_view text, Text what, std::size_t wildcards) {
  const auto in_scheme = [what](char c) { return is_of_scheme(c) || (what == Text::pattern && is_wildcard(c)); };
  const auto colon = static_cast<std::size_t>(std::ranges::find_if_not(text, in_scheme) - text.begin());
  const bool begins_well = colon > 0 && (is_letter(text.front()) || is_wildcard(text.front()));
  if (!begins_well || colon == text.size() || text[colon] != ':') return Split{{}, {}, text};
  const std::string scheme = lower_case(text.substr(0, colon));
  text.remove_prefix(colon + 1);
  Host host;
  const bool has_host = text.starts_with("//");
  if (has_host) {
    text.remove_prefix(2);
    const std::size_t end = host_end(text, wildcards);
    const auto plain = decoded(text.substr(0, end));
    if (!plain) return std::nullopt;
    // Behind a wildcard, a pattern keeps its port: without it, the wildcard would take any port.
    const bool has_wildcard = what == Text::pattern && std::ranges::any_of(*plain, is_wildcard);
    host = with_plain_port(lower_case(*plain), has_wildcard ? "" : default_port_of(scheme));
    text.remove_prefix(end);
  }
  if (scheme == "file") return Split{"file://" + (host.text == "localhost" ? std::string() : host.text), {}, text};
  return Split{scheme + (has_host ? "://" + host.text : ":"), host.default_port, text};
}

// Removes empty segments and resolves `.` and `..`. Keeps a slash at either end.
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

// Whether a query or fragment would leave its folder if its reader took it for a part of the path.
bool climbs(std::string_view query) { return query.ends_with("/..") || query.contains("/../"); }

}  // namespace

std::vector<std::string> plain_uris(std::string_view uri) {
  if (uri.starts_with(' ') || uri.ends_with(' ')) return {};
  const auto parts = split(uri, Text::uri, 0);
  if (!parts) return {};
  const auto& [front, default_port, rest] = *parts;
  if (front == "file://" && !rest.empty() && !rest.starts_with('/')) return {};
  const std::size_t path_end = std::min(rest.find_first_of("?#"), rest.size());
  const auto path = decoded(rest.substr(0, path_end));
  const auto query = decoded(rest.substr(path_end));
  const auto plain_path = path ? resolved(*path) : std::nullopt;
  if (!plain_path || !query || climbs(*query)) return {};
  std::vector<std::string> spellings = {front + *plain_path + *query};
  if (!default_port.empty()) spellings.push_back(front + std::string(default_port) + *plain_path + *query);
  return spellings;
}

std::vector<std::string> plain_uri_patterns(std::string_view pattern) {
  std::vector<std::string> forms;
  std::size_t last = std::string_view::npos;
  for (std::size_t wildcards = 0;; ++wildcards) {
    const auto parts = split(pattern, Text::pattern, wildcards);
    if (parts && parts->rest.size() == last) return forms;  // the host has no more question marks
    const auto rest = parts ? decoded(parts->rest) : std::nullopt;
    std::string form = rest ? parts->front + *rest : std::string(pattern);
    if (std::ranges::find(forms, form) == forms.end()) forms.push_back(std::move(form));
    if (!parts) return forms;
    last = parts->rest.size();
  }
}

}  // namespace proteus::catalog
