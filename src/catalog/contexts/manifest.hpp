#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "catalog/contexts/disclosure.hpp"

// Contexts as they are written down. Plain values.
namespace proteus::catalog {

struct ExampleQuery {
  std::string title;
  std::string text;

  friend bool operator==(const ExampleQuery&, const ExampleQuery&) = default;
};

// A context with what it inherits. Patterns fit the name clients see or the provider's own. One without a kind is of
// tools; "prompt:x*" is of prompts, and "resource:x*" of resources and templates, by URI. An empty `include` lets no
// tool in; otherwise a kind that none of its patterns speaks of is in as a whole.
struct ContextManifest {
  std::string parent = {};  // the name of another context; empty for none
  std::string display_name = {};
  std::vector<std::string> include = {"*"};
  std::vector<std::string> exclude = {};
  std::vector<std::string> siblings = {};  // names of other contexts
  // Patterns of the tools that mention siblings; none: one tool of each provider does.
  std::optional<std::vector<std::string>> sibling_tools = {};
  std::vector<std::string> schemas = {};
  std::string instructions = {};
  std::string dataset = {};
  std::vector<ExampleQuery> example_queries = {};
  std::map<std::string, std::string> tool_supplements = {};  // by the name clients see, or the provider's own
  Disclosure disclosure = Disclosure::all;
  std::vector<std::string> always = {};  // patterns of tools that are listed although others are searched for
  std::string fault = {};                // why it is served without what was written for it; empty where it is not

  friend bool operator==(const ContextManifest&, const ContextManifest&) = default;
};

struct SchemaManifest {
  std::vector<std::string> tools = {"*"};  // patterns
  std::string guidance = {};

  friend bool operator==(const SchemaManifest&, const SchemaManifest&) = default;
};

// By name.
struct Manifests {
  std::map<std::string, ContextManifest> contexts;
  std::map<std::string, SchemaManifest> schemas;
};

// What a dataset knows of.
struct DatasetTypes {
  std::vector<std::string> entities;
  std::vector<std::string> relationships;
};

// The types of a dataset as they are now; nothing where it cannot be used. Called where contexts are made.
using TypesOf = std::function<std::optional<DatasetTypes>(const std::string& dataset)>;

}  // namespace proteus::catalog
