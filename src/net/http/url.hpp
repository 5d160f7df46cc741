#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::net {

// An absolute http or https URL, checked and normalized once: scheme and host in lower case, no default port, no
// fragment, "/" for an empty path. A value; views of it are valid as long as it lives.
class Url {
 public:
  static constexpr std::size_t kMaxBytes = 8192;

  // Rejects what cannot be requested, and user names and passwords, which would end up in logs. An error never repeats
  // them.
  static Result<Url> parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string_view scheme() const { return std::string_view(text_).substr(0, scheme_size_); }
  bool is_https() const { return scheme_size_ == 5; }
  // Returns the host; an IPv6 address without its brackets.
  std::string_view host() const { return std::string_view(text_).substr(host_begin_, host_size_); }
  std::uint16_t port() const { return port_; }
  // Returns what a Host field contains: the host and, unless it is the scheme's default, the port.
  std::string_view authority() const;
  std::string_view origin() const { return std::string_view(text_).substr(0, target_begin_); }
  // Returns path and query, as in a request line.
  std::string_view target() const { return std::string_view(text_).substr(target_begin_); }

  // Returns the URL that `reference`, absolute or relative, means in a document with this URL (RFC 3986, 5).
  Result<Url> resolve(std::string_view reference) const;

  friend bool operator==(const Url& a, const Url& b) { return a.text_ == b.text_; }

 private:
  Url() = default;

  std::string text_;
  std::size_t scheme_size_ = 0;
  std::size_t host_begin_ = 0;
  std::size_t host_size_ = 0;
  std::size_t target_begin_ = 0;
  std::uint16_t port_ = 0;
};

// Decodes percent-encoded bytes. Returns nothing if a % encodes none.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace proteus::net
