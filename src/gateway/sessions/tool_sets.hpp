#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <proteus/error.hpp>

#include "catalog/definitions/definition_list.hpp"
#include "gateway/sessions/tool_session.hpp"
#include "json/shared_by_digest.hpp"

namespace proteus::gateway {

// A tool for a new ToolSet: the tool itself and its definition as clients see it.
struct ToolOfSet {
  providers::HttpToolPointer tool;
  std::string definition;
};

// Makes sets of tools. Sessions with the same tools, often thousands, share the list that clients see. Thread-safe.
class ToolSets {
 public:
  // Fails if clients could not be shown one of the tools.
  Result<std::shared_ptr<const ToolSet>> make(const catalog::UpstreamName& of, std::vector<ToolOfSet> tools);

 private:
  json::SharedByDigest<catalog::DefinitionList> lists_;
};

// Return the tools of `set` for a new set: with `others`, which replace tools of the same name, or without the tool
// `name`.
std::vector<ToolOfSet> with(const ToolSet& set, std::vector<ToolOfSet> others);
std::vector<ToolOfSet> without(const ToolSet& set, std::string_view name);

}  // namespace proteus::gateway
