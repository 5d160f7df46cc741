#include "net/http/url.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <vector>

#include <boost/asio/ip/address_v6.hpp>
#include <boost/url/decode_view.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/text/ascii.hpp"
#include "net/http/fields.hpp"
#include "net/http/token.hpp"

namespace proteus::net {
namespace {

// Quotes the text for an error, unless it contains an @: then it may hold a password, wherever the parser failed.
std::string quoted(std::string_view text) {
  return text.contains('@') ? "the URL" : fmt::format("URL '{}'", log::printable(text));
}

Error fault(std::string_view text, std::string_view what) {
  return errors::invalid(fmt::format("{} {}", quoted(text), what));
}

constexpr bool is_hex(char c) { return hex_value(c) >= 0; }
constexpr bool is_unreserved(char c) { return is_letter(c) || is_digit(c) || std::string_view("-._~").contains(c); }
constexpr bool is_scheme_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("+-.").contains(c);
}

// Whether all characters may stand in a path, a query or a fragment (RFC 3986, 3.3 to 3.5), or are in `also`.
bool is_well_formed(std::string_view text, std::string_view also) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
      i += 2;
    } else if (!is_unreserved(c) && !std::string_view("!$&'()*+,;=:@").contains(c) && !also.contains(c)) {
      return false;
    }
  }
  return true;
}

// The parts of a URL or a relative reference (RFC 3986, appendix B).
struct Reference {
  std::optional<std::string_view> scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::string_view query;  // with its question mark
};

std::optional<Reference> split(std::string_view text) {
  const auto cut = [&text](std::size_t size) {
    const std::string_view front = text.substr(0, size);
    text.remove_prefix(front.size());
    return front;
  };
  Reference parts;
  const std::size_t colon = text.find_first_of(":/?#");
  if (colon != std::string_view::npos && text[colon] == ':' && colon > 0 && is_letter(text[0]) &&
      std::ranges::all_of(text.substr(0, colon), is_scheme_character)) {
    parts.scheme = cut(colon);
    cut(1);
  }
  if (text.starts_with("//")) {
    cut(2);
    parts.authority = cut(text.find_first_of("/?#"));
  }
  parts.path = cut(text.find_first_of("?#"));
  parts.query = cut(text.find('#'));
  const std::string_view query = parts.query.substr(std::min<std::size_t>(1, parts.query.size()));
  const std::string_view fragment = text.substr(std::min<std::size_t>(1, text.size()));
  // Some readers would take the text before the colon for a scheme (RFC 3986, 4.2).
  const bool is_relative_path = !parts.scheme && !parts.authority && !parts.path.starts_with('/');
  if (is_relative_path && parts.path.substr(0, parts.path.find('/')).contains(':')) return std::nullopt;
  const bool fine = is_well_formed(parts.path, "/") && is_well_formed(query, "/?") && is_well_formed(fragment, "/?");
  return fine ? std::optional(parts) : std::nullopt;
}

// An authority without user information. An IPv6 address keeps its brackets.
struct HostAndPort {
  std::string_view host;
  std::string_view port;
};

std::optional<HostAndPort> split_authority(std::string_view authority) {
  const std::size_t bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::size_t end = std::min(authority.find(':', bracket), authority.size());
  const HostAndPort parts{authority.substr(0, end), authority.substr(std::min(end + 1, authority.size()))};
  const bool ends_in_bracket = bracket == 0 || end == bracket + 1;
  return ends_in_bracket && std::ranges::all_of(parts.port, is_digit) ? std::optional(parts) : std::nullopt;
}

bool is_ipv6_literal(std::string_view host) {
  if (!host.starts_with('[')) return false;
  const std::string_view address = host.substr(1, host.size() - 2);
  if (!std::ranges::all_of(address, [](char c) { return is_hex(c) || c == ':' || c == '.'; })) return false;
  boost::system::error_code status;
  boost::asio::ip::make_address_v6(std::string(address), status);
  return !status;
}

// Removes dot segments (RFC 3986, 5.2.4).
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  bool directory = false;
  for (const auto part : std::views::split(path.substr(1), '/')) {
    const std::string_view segment(part.begin(), part.end());
    directory = segment == "." || segment == "..";
    if (!directory) kept.push_back(segment);
    if (segment == ".." && !kept.empty()) kept.pop_back();
  }
  std::string out;
  for (const std::string_view segment : kept)
    (out += '/') += segment;
  if (directory) out += '/';
  return out;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  if (text.size() > kMaxBytes) return std::unexpected(errors::too_large("a URL", kMaxBytes));
  const auto parts = split(text);
  if (!parts) return std::unexpected(fault(text, "is malformed"));
  const std::string_view scheme = parts->scheme.value_or("");
  const bool https = same_field_name(scheme, "https");
  if (!https && !same_field_name(scheme, "http")) {
    return std::unexpected(fault(text, "must begin with http:// or https://"));
  }
  const std::string_view authority = parts->authority.value_or("");
  if (authority.contains('@')) return std::unexpected(fault(text, "must not hold a user name or password"));
  const auto where = split_authority(authority);
  if (!where) return std::unexpected(fault(text, "is malformed"));
  if (where->host.empty()) return std::unexpected(fault(text, "has no host"));
  const bool bracketed = is_ipv6_literal(where->host);
  if (!bracketed && !std::ranges::all_of(where->host, is_unreserved)) {
    return std::unexpected(fault(text, "has a host that cannot be looked up"));
  }

  const std::uint16_t default_port = https ? 443 : 80;
  std::uint16_t port = default_port;
  if (!where->port.empty()) {
    const auto [end, error] = std::from_chars(where->port.data(), where->port.data() + where->port.size(), port);
    if (error != std::errc{} || port == 0) {
      return std::unexpected(fault(text, "has a port that is not between 1 and 65535"));
    }
  }

  Url url;
  url.text_ = https ? "https://" : "http://";
  url.scheme_size_ = https ? 5 : 4;
  url.host_begin_ = url.text_.size() + (bracketed ? 1 : 0);
  url.host_size_ = where->host.size() - (bracketed ? 2 : 0);
  url.port_ = port;
  url.text_ += lower_case(where->host);
  if (port != default_port) fmt::format_to(std::back_inserter(url.text_), ":{}", port);
  url.target_begin_ = url.text_.size();
  if (parts->path.empty()) url.text_ += '/';
  url.text_ += parts->path;
  url.text_ += parts->query;
  return url;
}

std::string_view Url::authority() const { return origin().substr(scheme_size_ + 3); }

Result<Url> Url::resolve(std::string_view reference) const {
  if (reference.size() > kMaxBytes) return std::unexpected(errors::too_large("a URL", kMaxBytes));
  const auto parts = split(reference);
  if (!parts) return std::unexpected(fault(reference, "is malformed"));
  if (parts->scheme) return parse(reference);
  if (parts->authority) return parse(fmt::format("{}:{}", scheme(), reference));
  if (parts->path.empty() && parts->query.empty()) return *this;

  const std::string_view base_path = target().substr(0, target().find('?'));
  std::string path(parts->path);
  if (path.empty()) {
    path = base_path;
  } else {
    if (!path.starts_with('/')) path.insert(0, base_path.substr(0, base_path.rfind('/') + 1));
    path = without_dots(path);
  }
  return parse(fmt::format("{}{}{}", origin(), path, parts->query));
}

std::optional<std::string> percent_decoded(std::string_view text) {
  const auto view = boost::urls::make_pct_string_view(boost::urls::string_view(text.data(), text.size()));
  if (!view) return std::nullopt;
  const auto decoded = **view;
  return std::string(decoded.begin(), decoded.end());
}

}  // namespace proteus::net
