#include "providers/http_tool/shared_schemas.hpp"

namespace proteus::providers {

Result<SharedSchemas::Pointer> SharedSchemas::compile(const boost::json::value& document) {
  const json::Digest digest = json::sha256(json::canonical(document));
  if (auto known = known_.find(digest)) return known;
  auto compiled = json::Schema::compile(document);
  if (!compiled) return compiled;
  return known_.share(digest, std::move(*compiled));
}

}  // namespace proteus::providers
