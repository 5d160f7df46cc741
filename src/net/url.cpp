#include "net/url.hpp"

#include <algorithm>
#include <ranges>
#include <vector>

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/format.h>

#include "base/log.hpp"

namespace proteus::net {
namespace {

namespace urls = boost::urls;

// Text with an @ may hold a password wherever the parser stumbled.
std::string quoted(std::string_view text) {
  return text.contains('@') ? "the URL" : fmt::format("URL '{}'", log::printable(text));
}

Error fault(std::string_view text, std::string_view what) {
  return errors::invalid(fmt::format("{} {}", quoted(text), what));
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(
      out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return out;
}

// RFC 3986, 5.2.4. Boost 1.81 keeps the steps that lead above the root.
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
  const auto parsed = urls::parse_uri_reference(urls::string_view(text.data(), text.size()));
  if (!parsed) return std::unexpected(fault(text, "is malformed"));
  const urls::url_view& view = *parsed;

  if (view.scheme_id() != urls::scheme::http && view.scheme_id() != urls::scheme::https) {
    return std::unexpected(fault(text, "must begin with http:// or https://"));
  }
  if (!view.has_authority()) return std::unexpected(fault(text, "has no host"));
  if (view.has_userinfo()) return std::unexpected(fault(text, "must not hold a user name or password"));
  const std::string host = lower(std::string_view(view.encoded_host().data(), view.encoded_host().size()));
  if (host.empty()) return std::unexpected(fault(text, "has no host"));
  if (view.host_type() == urls::host_type::ipvfuture || host.contains('%')) {
    return std::unexpected(fault(text, "has a host that cannot be looked up"));
  }

  const bool https = view.scheme_id() == urls::scheme::https;
  const std::uint16_t default_port = https ? 443 : 80;
  std::uint16_t port = default_port;
  if (view.has_port() && !view.port().empty()) {
    port = view.port_number();
    if (port == 0) return std::unexpected(fault(text, "has a port that is not between 1 and 65535"));
  }

  Url url;
  const bool bracketed = view.host_type() == urls::host_type::ipv6;
  url.text_ = https ? "https://" : "http://";
  url.scheme_size_ = https ? 5 : 4;
  url.host_begin_ = url.text_.size() + (bracketed ? 1 : 0);
  url.host_size_ = host.size() - (bracketed ? 2 : 0);
  url.port_ = port;
  url.text_ += host;
  if (port != default_port) fmt::format_to(std::back_inserter(url.text_), ":{}", port);
  url.target_begin_ = url.text_.size();
  if (view.encoded_path().empty()) url.text_ += '/';
  url.text_.append(view.encoded_path().data(), view.encoded_path().size());
  if (view.has_query()) {
    url.text_ += '?';
    url.text_.append(view.encoded_query().data(), view.encoded_query().size());
  }
  return url;
}

std::string_view Url::authority() const {
  return origin().substr(scheme_size_ + 3);
}

Result<Url> Url::resolve(std::string_view reference) const {
  if (reference.size() > kMaxBytes) return std::unexpected(errors::too_large("a URL", kMaxBytes));
  const auto parsed = urls::parse_uri_reference(urls::string_view(reference.data(), reference.size()));
  if (!parsed) return std::unexpected(fault(reference, "is malformed"));
  const urls::url_view& view = *parsed;
  if (view.has_scheme()) return parse(reference);
  if (view.has_authority()) return parse(fmt::format("{}:{}", scheme(), reference));

  const std::string_view base_path = target().substr(0, target().find('?'));
  std::string path(view.encoded_path().data(), view.encoded_path().size());
  if (path.empty() && !view.has_query()) return *this;
  if (path.empty()) {
    path = base_path;
  } else {
    if (!path.starts_with('/')) path.insert(0, base_path.substr(0, base_path.rfind('/') + 1));
    path = without_dots(path);
  }
  const auto query =
      view.has_query() ? "?" + std::string(view.encoded_query().data(), view.encoded_query().size()) : "";
  return parse(fmt::format("{}{}{}", origin(), path, query));
}

}  // namespace proteus::net
