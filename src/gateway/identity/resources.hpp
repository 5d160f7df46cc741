#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "net/http/url.hpp"

namespace proteus::gateway {

// The resource names by which tokens refer to this gateway (RFC 8707, RFC 9728): one for each endpoint, and one for the
// gateway as a whole. They follow from the URL by which clients know the gateway, never from a request.
class Resources {
 public:
  static constexpr std::string_view kWellKnown = "/.well-known/oauth-protected-resource";

  explicit Resources(const net::Url& public_url);

  const std::string& gateway() const { return base_; }
  // The empty context is the plain endpoint.
  std::string endpoint(std::string_view context) const;
  std::string admin() const { return base_ + "/admin"; }
  // Returns the audiences that a token for an endpoint may have.
  std::vector<std::string> accepted_at(std::string_view context) const;

  // Returns the URL of a resource's metadata.
  std::string metadata_url(std::string_view resource) const;
  // Returns the resource whose metadata a path names; nothing if the path names none. Does not check whether the
  // context exists, so that nobody can find that out here.
  std::optional<std::string> resource_at(std::string_view path) const;

 private:
  std::string origin_;
  std::string path_;  // of the public URL, without a slash at its end
  std::string base_;  // both
};

}  // namespace proteus::gateway
