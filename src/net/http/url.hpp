#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <proteus/error.hpp>

namespace proteus::net {

// An absolute http or https URL, checked and normalized once: scheme and host in lower case, no default port,
// no fragment, "/" for an empty path. A value; views of it live as long as it does.
class Url {
 public:
  static constexpr std::size_t kMaxBytes = 8192;

  // Refuses what cannot be requested, and user names and passwords, which would end up in logs. A fault never
  // repeats them.
  static Result<Url> parse(std::string_view text);

  const std::string& text() const { return text_; }
  std::string_view scheme() const { return std::string_view(text_).substr(0, scheme_size_); }
  bool is_https() const { return scheme_size_ == 5; }
  // An IPv6 address comes without its brackets.
  std::string_view host() const { return std::string_view(text_).substr(host_begin_, host_size_); }
  std::uint16_t port() const { return port_; }
  // Host and, unless it is the scheme's default, port: what a Host field holds.
  std::string_view authority() const;
  std::string_view origin() const { return std::string_view(text_).substr(0, target_begin_); }
  // Path and query, as in a request line.
  std::string_view target() const { return std::string_view(text_).substr(target_begin_); }

  // The URL that `reference`, absolute or relative, means in a document found here (RFC 3986, 5).
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

}  // namespace proteus::net
