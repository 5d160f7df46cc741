#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "net/http/url.hpp"

namespace proteus::gateway {

// The names that tokens know this gateway by (RFC 8707, 9728): each endpoint is a resource, and so is the gateway as a
// whole. They follow from the URL that clients know it by, and never from what a request says.
class Resources {
 public:
  static constexpr std::string_view kWellKnown = "/.well-known/oauth-protected-resource";

  explicit Resources(const net::Url& public_url);

  const std::string& gateway() const { return base_; }
  // The empty context is the plain endpoint.
  std::string endpoint(std::string_view context) const;
  std::string admin() const { return base_ + "/admin"; }
  // What a token that comes to an endpoint may be for.
  std::vector<std::string> accepted_at(std::string_view context) const;

  // Where the metadata of a resource is.
  std::string metadata_url(std::string_view resource) const;
  // Of which resource a path is the metadata; nothing where it is of none. There may be no context of that name: that
  // is not to be learned here.
  std::optional<std::string> resource_at(std::string_view path) const;

 private:
  std::string origin_;
  std::string path_;  // of the public URL, without a slash at its end
  std::string base_;  // both
};

}  // namespace proteus::gateway
