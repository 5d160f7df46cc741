#include "auth/tokens/metadata.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "auth/tokens/document.hpp"

namespace proteus::auth {
namespace {

struct UrlMember {
  std::string_view name;
  std::string ServerMetadata::* onto;
};
constexpr std::array kUrls = {
    UrlMember{"jwks_uri", &ServerMetadata::jwks_uri},
    UrlMember{"authorization_endpoint", &ServerMetadata::authorization_endpoint},
    UrlMember{"token_endpoint", &ServerMetadata::token_endpoint},
    UrlMember{"introspection_endpoint", &ServerMetadata::introspection_endpoint},
    UrlMember{"registration_endpoint", &ServerMetadata::registration_endpoint},
    UrlMember{"revocation_endpoint", &ServerMetadata::revocation_endpoint},
};

struct ListMember {
  std::string_view name;
  std::vector<std::string> ServerMetadata::* onto;
};
constexpr std::array kLists = {
    ListMember{"scopes_supported", &ServerMetadata::scopes},
    ListMember{"grant_types_supported", &ServerMetadata::grant_types},
    ListMember{"response_types_supported", &ServerMetadata::response_types},
    ListMember{"code_challenge_methods_supported", &ServerMetadata::code_challenge_methods},
    ListMember{"token_endpoint_auth_methods_supported", &ServerMetadata::token_endpoint_auth_methods},
    ListMember{"introspection_endpoint_auth_methods_supported", &ServerMetadata::introspection_endpoint_auth_methods},
    ListMember{"dpop_signing_alg_values_supported", &ServerMetadata::dpop_algorithms},
};

}  // namespace

bool has_text(std::span<const std::string> list, std::string_view value) {
  return std::ranges::find(list, value) != list.end();
}

Result<ServerMetadata> read_server_metadata(std::string_view text, std::string_view issuer) {
  const auto document = DocumentReader::parse(text, ServerMetadata::kMaxBytes, "the metadata of the issuer");
  if (!document) return std::unexpected(document.error());
  ServerMetadata metadata;
  if (auto read = document->text("issuer", metadata.issuer); !read) return std::unexpected(std::move(read.error()));
  // RFC 8414, section 3.3: a server that answers for another issuer must not be trusted.
  if (metadata.issuer != issuer)
    return std::unexpected(errors::protocol("the metadata are those of another issuer than the one configured"));
  const bool needs_https = issuer.starts_with("https:");
  for (const auto& [name, onto] : kUrls) {
    if (auto read = document->url(name, metadata.*onto, needs_https); !read)
      return std::unexpected(std::move(read.error()));
  }
  for (const auto& [name, onto] : kLists) {
    if (auto read = document->texts(name, metadata.*onto); !read) return std::unexpected(std::move(read.error()));
  }
  metadata.names_issuer_in_responses = document->flag("authorization_response_iss_parameter_supported");
  metadata.takes_client_metadata_documents = document->flag("client_id_metadata_document_supported");
  return metadata;
}

std::vector<net::Url> metadata_urls(const net::Url& issuer) {
  std::string_view path = issuer.target();
  path = path.substr(0, path.find('?'));
  while (path.ends_with('/'))
    path.remove_suffix(1);
  std::vector<net::Url> urls;
  const auto add = [&](const std::string& target) {
    if (auto url = net::Url::parse(std::string(issuer.origin()) + target)) urls.push_back(std::move(*url));
  };
  add(fmt::format("/.well-known/oauth-authorization-server{}", path));
  add(fmt::format("/.well-known/openid-configuration{}", path));
  if (!path.empty()) add(fmt::format("{}/.well-known/openid-configuration", path));
  return urls;
}

}  // namespace proteus::auth
