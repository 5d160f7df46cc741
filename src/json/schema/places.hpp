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

// The place of a schema: the base of its references, and its path for errors.
struct Place {
  ResourceId resource = 0;
  Dialect dialect;
  const Place* parent = nullptr;
  std::string step;  // JSON Pointer from the parent; the URI of the document if there is no parent
};

// Returns a text such as `#/properties/age`, after the URI of the document if there is one. Cuts long texts.
std::string to_string(const Place& place);

struct Anchor {
  const boost::json::value* schema = nullptr;
  bool dynamic = false;
};

// A schema with its own URI, and the anchors inside it.
struct Resource {
  std::string uri;
  const boost::json::value* root = nullptr;
  std::unordered_map<std::string, Anchor> anchors;
};

struct Target {
  const boost::json::value* schema = nullptr;
  ResourceId resource = 0;
  std::string_view dynamic_anchor;  // name of the dynamic anchor, if the target is one; lives as long as the Places
};

// Finds all schemas in the documents of one compilation, by following the keywords that contain schemas, and resolves
// references. The documents and options must outlive it. Not thread-safe.
class Places {
 public:
  explicit Places(const SchemaOptions& options) : options_(options) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // Adds a document under `uri`: its key in `options.documents`, a metaschema's URI, or empty for the main document.
  Result<> add(const boost::json::value& document, std::string_view uri);

  // Resolves a reference at `from`. First adds the document that the reference names if it is among `options.documents`
  // or the metaschemas.
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
  std::size_t uri_bytes_ = 0;  // of `$id`s, each resolved against those it is in
};

}  // namespace proteus::json::schema
