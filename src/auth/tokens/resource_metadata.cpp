#include "auth/tokens/resource_metadata.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "auth/tokens/document.hpp"
#include "json/text.hpp"

namespace proteus::auth {
namespace {

void append_list(std::string& out, std::string_view name, std::span<const std::string> items) {
  if (items.empty()) return;
  out.push_back(',');
  json::append_quoted(out, name);
  out += ":[";
  for (const std::string& item : items) {
    if (&item != items.data()) out.push_back(',');
    json::append_quoted(out, item);
  }
  out.push_back(']');
}

}  // namespace

std::string write_resource_metadata(const ResourceMetadata& metadata) {
  std::string out = R"({"resource":)";
  json::append_quoted(out, metadata.resource);
  append_list(out, "authorization_servers", metadata.authorization_servers);
  std::vector<std::string> scopes = metadata.scopes;
  std::erase(scopes, "offline_access");
  append_list(out, "scopes_supported", scopes);
  out += R"(,"bearer_methods_supported":["header"])";
  if (!metadata.name.empty()) {
    out += R"(,"resource_name":)";
    json::append_quoted(out, metadata.name);
  }
  append_list(out, "dpop_signing_alg_values_supported", metadata.dpop_algorithms);
  if (metadata.requires_dpop) out += R"(,"dpop_bound_access_tokens_required":true)";
  out.push_back('}');
  return out;
}

Result<ResourceMetadata> read_resource_metadata(std::string_view text) {
  const auto document = DocumentReader::parse(text, ResourceMetadata::kMaxBytes, "the metadata of the resource");
  if (!document) return std::unexpected(document.error());
  ResourceMetadata metadata;
  if (auto read = document->text("resource", metadata.resource); !read) return std::unexpected(std::move(read.error()));
  if (metadata.resource.empty()) return std::unexpected(errors::protocol("the metadata do not name their resource"));
  if (auto read = document->text("resource_name", metadata.name); !read)
    return std::unexpected(std::move(read.error()));
  for (const auto& [name, onto] : {std::pair("authorization_servers", &metadata.authorization_servers),
                                   std::pair("scopes_supported", &metadata.scopes),
                                   std::pair("dpop_signing_alg_values_supported", &metadata.dpop_algorithms)}) {
    if (auto read = document->texts(name, *onto); !read) return std::unexpected(std::move(read.error()));
  }
  metadata.requires_dpop = document->flag("dpop_bound_access_tokens_required");
  return metadata;
}

}  // namespace proteus::auth
