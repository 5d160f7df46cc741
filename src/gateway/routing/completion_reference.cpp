#include "gateway/routing/completion_reference.hpp"

#include <memory>
#include <string>
#include <vector>

#include "json/message.hpp"
#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::gateway {

Result<CompletionReference> CompletionReference::of(const mcp::Request& request) {
  const auto fault = [] {
    return std::unexpected(mcp::errors::invalid_params(
        R"(params.ref must be {"type": "ref/prompt", "name"} or {"type": "ref/resource", "uri"}, without a key twice)"));
  };
  const std::string_view raw = request.param("ref");
  std::vector<std::unique_ptr<std::string>> storage;
  if (!json::is_object(raw)) return fault();
  const auto members = json::members_of(raw, storage);
  if (!members) return fault();
  const std::string type = json::decode_string(members->value("type")).value_or("");
  const bool prompt = type == "ref/prompt";
  const std::string_view name = members->value(prompt ? "name" : "uri");
  if ((!prompt && type != "ref/resource") || !json::decode_string(name)) return fault();
  return CompletionReference{prompt ? catalog::Kind::prompt : catalog::Kind::resource_template, name};
}

}  // namespace proteus::gateway
