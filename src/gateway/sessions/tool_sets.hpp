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

// One tool of a set to be: what it is, and what clients see of it.
struct ToolOfSet {
  providers::HttpToolPointer tool;
  std::string definition;
};

// Makes sets of tools. Sessions with the same tools share what clients see of them, as thousands of them do.
// Thread-safe.
class ToolSets {
 public:
  // Fails where clients could not be shown one of them.
  Result<std::shared_ptr<const ToolSet>> make(const catalog::UpstreamName& of, std::vector<ToolOfSet> tools);

 private:
  json::SharedByDigest<catalog::DefinitionList> lists_;
};

// The tools of a set and others; of the same name the others.
std::vector<ToolOfSet> with(const ToolSet& set, std::vector<ToolOfSet> others);
std::vector<ToolOfSet> without(const ToolSet& set, std::string_view name);

}  // namespace proteus::gateway
