#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "auth/tokens/algorithm.hpp"

namespace proteus::auth {

// What a protected resource says about itself (RFC 9728).
struct ResourceMetadata {
  static constexpr std::size_t kMaxBytes = std::size_t{256} * 1024;

  std::string resource;
  std::vector<std::string> authorization_servers = {};
  std::vector<std::string> scopes = {};
  std::string name = {};  // for people; left out where it is empty
  std::vector<std::string> dpop_algorithms = {};
  bool requires_dpop = false;
};

// The same bytes for the same resource. `offline_access` is left out: it is between a client and its issuer.
std::string write_resource_metadata(const ResourceMetadata& metadata);

// Reads another resource's document, whose `resource` the caller compares with what it asked for.
Result<ResourceMetadata> read_resource_metadata(std::string_view text);

}  // namespace proteus::auth
