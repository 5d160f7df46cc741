#include "gateway/sign_in/authorizations.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "json/canonical.hpp"

namespace proteus::gateway {
namespace {

constexpr std::size_t kNameSize = 32;

}  // namespace

std::string Plan::digest() const {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}", target.value(), discovered.issuer(),
                                discovered.server.authorization_endpoint, discovered.resource, redirect_uri);
  for (const auto& scope : scopes)
    all += "\n" + scope;
  return json::hex(json::sha256(all));
}

std::string issuer_name(std::string_view issuer) { return json::hex(json::sha256(issuer)).substr(0, kNameSize); }

bool is_issuer_name(std::string_view name) {
  return name.size() == kNameSize &&
         std::ranges::all_of(name, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string redirect_uri_for(std::string_view gateway_url, std::string_view issuer) {
  return fmt::format("{}/oauth/callback/{}", gateway_url, issuer_name(issuer));
}

std::string client_document_url(std::string_view gateway_url, std::string_view issuer_name) {
  return fmt::format("{}/oauth/client/{}.json", gateway_url, issuer_name);
}

auth::oauth::ClientDescription client_description(std::string_view gateway_url, std::string_view issuer_name) {
  return {.name = "Proteus",
          .redirect_uris = {fmt::format("{}/oauth/callback/{}", gateway_url, issuer_name)},
          .is_native = !gateway_url.starts_with("https:"),
          .uri = std::string(gateway_url)};
}

}  // namespace proteus::gateway
