#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json/schema/dialect.hpp"
#include "json/schema/schema.hpp"

namespace proteus::json::schema {

using ResourceId = std::uint32_t;

// Where a schema stands: what its references are relative to, and how to name it in an error.
struct Place {
  ResourceId resource = 0;
  Dialect dialect;
  const Place* parent = nullptr;
  std::string step;  // from the parent, as JSON Pointer; the URI of the document where there is no parent
};

// `#/properties/age`, or with a URI in front; cut if it is very long.
std::string to_string(const Place& place);

struct Anchor {
  const boost::json::value* schema = nullptr;
  bool dynamic = false;
};

// A schema with a URI of its own, and the names inside it.
struct Resource {
  std::string uri;
  const boost::json::value* root = nullptr;
  std::unordered_map<std::string, Anchor> anchors;
};

struct Target {
  const boost::json::value* schema = nullptr;
  ResourceId resource = 0;
  std::string_view dynamic_anchor;  // set if the reference ended at one; lives as long as the Places
};

// All schemas of all documents one compilation touches, found by walking the keywords that hold schemas, and
// what
// `$ref` means at each. Documents must outlive it. For one thread.
class Places {
 public:
  explicit Places(const SchemaOptions& options) : options_(options) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // Adds a document under the URI it was handed in by.
  Result<> add(const boost::json::value& document, std::string_view uri);

  // What a reference at `from` means. Adds the document it names, if that was handed in.
  Result<Target> resolve(const Place& from, std::string_view reference);

  const Place& at(const boost::json::value* schema) const { return places_.at(schema); }
  const std::vector<const boost::json::value*>& all() const { return order_; }
  const std::deque<Resource>& resources() const { return resources_; }

 private:
  Result<> measure(const boost::json::value& value, std::size_t depth);
  Result<> scan(const boost::json::value& schema, Place place);
  Result<> scan_children(const boost::json::object& schema, const Place& place, bool definitions_only);
  Result<> identify(const boost::json::value& schema, Place& place);
  Result<> name_anchor(const Place& place, std::string_view name, const boost::json::value& schema, bool dynamic);
  Result<> begin_resource(std::string uri, const boost::json::value& schema, Place& place);
  Result<Dialect> find_dialect(std::string_view schema_uri, int depth);
  const boost::json::value* find_document(std::string_view uri) const;
  Result<std::optional<ResourceId>> find_resource(const std::string& uri);
  Result<Target> find_pointer(ResourceId resource, std::string_view pointer);

  const SchemaOptions& options_;
  std::unordered_map<const boost::json::value*, Place> places_;
  std::vector<const boost::json::value*> order_;
  std::deque<Resource> resources_;
  std::unordered_map<std::string, ResourceId> by_uri_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace proteus::json::schema
