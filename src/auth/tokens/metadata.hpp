#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "net/http/url.hpp"

namespace proteus::auth {

// What an authorization server publishes about itself (RFC 8414, OpenID Connect Discovery). Absent texts are empty.
// URLs are valid, and https if the issuer is.
struct ServerMetadata {
  static constexpr std::size_t kMaxBytes = std::size_t{256} * 1024;

  std::string issuer;
  std::string jwks_uri;
  std::string authorization_endpoint;
  std::string token_endpoint;
  std::string introspection_endpoint;
  std::string registration_endpoint;
  std::string revocation_endpoint;
  std::vector<std::string> scopes;
  std::vector<std::string> grant_types;
  std::vector<std::string> response_types;
  std::vector<std::string> code_challenge_methods;
  std::vector<std::string> token_endpoint_auth_methods;
  std::vector<std::string> introspection_endpoint_auth_methods;
  std::vector<std::string> dpop_algorithms;
  bool names_issuer_in_responses = false;        // authorization_response_iss_parameter_supported
  bool takes_client_metadata_documents = false;  // client_id_metadata_document_supported
};

// Whether a list of the metadata has a value.
bool has_text(std::span<const std::string> list, std::string_view value);

// Fails unless the document names exactly this issuer, compared byte by byte.
Result<ServerMetadata> read_server_metadata(std::string_view text, std::string_view issuer);

// Returns where the document may be, in the order to try: RFC 8414 and OpenID with the well-known part before the path,
// then OpenID with it after the path. Leaves out URLs that would be too long.
std::vector<net::Url> metadata_urls(const net::Url& issuer);

}  // namespace proteus::auth
