#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"

namespace proteus::auth {

// What a protected resource publishes about itself (RFC 9728).
struct ResourceMetadata {
  static constexpr std::size_t kMaxBytes = std::size_t{256} * 1024;

  std::string resource;
  std::vector<std::string> authorization_servers = {};
  std::vector<std::string> scopes = {};
  std::string name = {};  // for people; left out if empty
  std::vector<std::string> dpop_algorithms = {};
  bool requires_dpop = false;
};

// Returns the same bytes for the same resource. Leaves out `offline_access`: it is between a client and its issuer.
std::string write_resource_metadata(const ResourceMetadata& metadata);

// Reads another resource's document. The caller must compare `resource` with the resource that it requested.
Result<ResourceMetadata> read_resource_metadata(std::string_view text);

}  // namespace proteus::auth
