#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/contexts/disclosure.hpp"

// Contexts as written in the configuration. Plain values.
namespace proteus::catalog {

struct ExampleQuery {
  std::string title;
  std::string text;

  friend bool operator==(const ExampleQuery&, const ExampleQuery&) = default;
};

// A context, including what it inherits. Patterns fit the name clients see or the provider's own. A pattern without a
// kind is for tools; "prompt:x*" is for prompts, and "resource:x*" for resources and templates, by URI. An empty
// `include` includes no tool. Otherwise a kind that no pattern of `include` mentions is included as a whole.
struct ContextManifest {
  std::string parent = {};  // name of another context; empty for none
  std::string display_name = {};
  std::vector<std::string> include = {"*"};
  std::vector<std::string> exclude = {};
  std::vector<std::string> siblings = {};  // names of other contexts
  // Patterns of the tools that mention siblings; if not set, one tool of each provider does.
  std::optional<std::vector<std::string>> sibling_tools = {};
  std::vector<std::string> schemas = {};
  std::string instructions = {};
  std::string dataset = {};
  std::vector<ExampleQuery> example_queries = {};
  std::map<std::string, std::string> tool_supplements = {};  // by the name clients see or the provider's own
  Disclosure disclosure = Disclosure::all;
  std::vector<std::string> always = {};  // patterns of tools that are listed even if tools are found by searching
  std::string fault = {};                // why the context is served without its texts; empty if there is no fault

  friend bool operator==(const ContextManifest&, const ContextManifest&) = default;
};

struct SchemaManifest {
  std::vector<std::string> tools = {"*"};  // patterns
  std::string guidance = {};

  friend bool operator==(const SchemaManifest&, const SchemaManifest&) = default;
};

// All manifests by name.
struct Manifests {
  std::map<std::string, ContextManifest> contexts;
  std::map<std::string, SchemaManifest> schemas;
};

// The types that a dataset has.
struct DatasetTypes {
  std::vector<std::string> entities;
  std::vector<std::string> relationships;
};

// Returns the current types of a dataset; nothing if it cannot be used. Called while contexts are made.
using TypesOf = std::function<std::optional<DatasetTypes>(const std::string& dataset)>;

}  // namespace proteus::catalog
