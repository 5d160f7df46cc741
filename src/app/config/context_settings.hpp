#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/contexts/disclosure.hpp"
#include "json/binding.hpp"

// [contexts.*] and [schemas.*]
namespace proteus::app {

struct ExampleQuery {
  std::string title;
  std::string text;

  friend bool operator==(const ExampleQuery&, const ExampleQuery&) = default;
};

struct ContextFilter {
  std::vector<std::string> include = {"*"};
  std::vector<std::string> exclude = {};

  friend bool operator==(const ContextFilter&, const ContextFilter&) = default;
};

// Contexts and schemas that are left out because of a fault.
struct BrokenManifests {
  std::set<std::string> contexts;
  // The filters of broken contexts, as far as they could be read: a fault elsewhere must not let everything in.
  std::map<std::string, ContextFilter> filters;
  std::set<std::string> schemas;
  bool unread_file = false;  // some file could not be read; anything missing may be in it

  friend bool operator==(const BrokenManifests&, const BrokenManifests&) = default;
};

struct ContextSettings {
  std::string parent;
  std::string display_name;
  std::vector<std::string> include = {"*"};
  std::vector<std::string> exclude;
  std::vector<std::string> sibling_subgraphs;
  std::optional<std::vector<std::string>> sibling_tools;
  std::vector<std::string> schemas;
  std::string instructions;
  std::string dataset;
  std::vector<ExampleQuery> example_queries;
  std::map<std::string, std::string> tool_supplements;
  catalog::Disclosure disclosure = catalog::Disclosure::all;
  std::vector<std::string> always;

  friend bool operator==(const ContextSettings&, const ContextSettings&) = default;
};

struct SchemaSettings {
  std::vector<std::string> tools = {"*"};
  std::string guidance;

  friend bool operator==(const SchemaSettings&, const SchemaSettings&) = default;
};

const json::Binding<ContextSettings>& context_binding();
const json::Binding<SchemaSettings>& schema_binding();

}  // namespace proteus::app
