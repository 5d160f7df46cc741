#include "json/schema/places.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "json/schema/json_pointer.hpp"
#include "json/schema/metaschemas.hpp"
#include "json/schema/uri.hpp"

namespace proteus::json::schema {
namespace {

// Every nested `$id` is resolved against its parents and kept, so long URIs would multiply.
constexpr std::size_t kMaxUriBytes = 4096;
// A metaschema may name another metaschema. Long chains do not occur in practice.
constexpr int kMaxMetaschemas = 8;

const Place& document_of(const Place& place) {
  const Place* at = &place;
  while (at->parent != nullptr)
    at = at->parent;
  return *at;
}

Error misplaced(const Place& place, std::string_view problem) {
  return errors::invalid(fmt::format("schema at {}: {}", to_string(place), problem));
}

std::string step_of(std::string_view keyword, std::string_view token) {
  std::string step;
  append_pointer_token(step, keyword);
  append_pointer_token(step, token);
  return step;
}

std::string step_of(std::string_view keyword) {
  std::string step;
  append_pointer_token(step, keyword);
  return step;
}

}  // namespace

std::string to_string(const Place& place) {
  std::vector<const Place*> way;
  for (const Place* at = &place; at != nullptr; at = at->parent)
    way.push_back(at);
  std::string path = way.back()->step + "#";
  way.pop_back();
  for (; !way.empty() && path.size() < 256; way.pop_back())
    path += way.back()->step;
  return log::printable(path);
}

Result<> Places::add(const boost::json::value& document, std::string_view uri) {
  if (auto measured = measure(document, 1); !measured) return measured;
  const auto resource = static_cast<ResourceId>(resources_.size());
  resources_.push_back({.uri = std::string(uri), .root = &document, .anchors = {}});
  by_uri_.try_emplace(std::string(uri), resource);
  const Dialect dialect = *standard_dialect(options_.default_draft == Draft::draft7 ? kDraft7Uri : kDraft2020Uri);
  return scan(document, {.resource = resource, .dialect = dialect, .parent = nullptr, .step = std::string(uri)});
}

Result<> Places::measure(const boost::json::value& value, std::size_t depth) {
  const SchemaLimits& limits = options_.limits;
  if (depth > limits.depth) return std::unexpected(errors::too_large("the nesting of a schema", limits.depth));
  if (++values_ > limits.values)
    return std::unexpected(errors::too_large("the number of values in a schema", limits.values));
  if (const auto* string = value.if_string()) bytes_ += string->size();
  if (const auto* array = value.if_array()) {
    for (const auto& item : *array) {
      if (auto measured = measure(item, depth + 1); !measured) return measured;
    }
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      bytes_ += member.key().size();
      if (auto measured = measure(member.value(), depth + 1); !measured) return measured;
    }
  }
  if (bytes_ > limits.bytes) return std::unexpected(errors::too_large("the text in a schema", limits.bytes));
  return {};
}

Result<> Places::scan(const boost::json::value& schema, Place place) {
  if (places_.size() >= options_.limits.subschemas) {
    return std::unexpected(errors::too_large("the number of subschemas", options_.limits.subschemas));
  }
  const auto [entry, added] = places_.try_emplace(&schema, std::move(place));
  if (!added) return {};
  order_.push_back(&schema);
  Place& here = entry->second;
  const auto* object = schema.if_object();
  if (object == nullptr) {
    if (schema.is_bool()) return {};
    return std::unexpected(misplaced(here, "must be an object or a boolean"));
  }

  if (const auto* uri = object->if_contains("$schema")) {
    if (!uri->is_string()) return std::unexpected(misplaced(here, "\"$schema\" must be a string"));
    const auto dialect = find_dialect(uri->get_string(), kMaxMetaschemas);
    if (!dialect) return std::unexpected(Error(dialect.error()).within("schema at " + to_string(here)));
    here.dialect = *dialect;
  }
  // In draft-07 a `$ref` disables all keywords beside it, but references may still point into `definitions`.
  const bool overridden = here.dialect.draft == Draft::draft7 && object->contains("$ref");
  if (!overridden) {
    if (auto identified = identify(schema, here); !identified) return identified;
  }
  return scan_children(*object, here, overridden);
}

Result<> Places::scan_children(const boost::json::object& schema, const Place& place, bool definitions_only) {
  const auto child = [&](const boost::json::value& value, std::string step) {
    return scan(value,
                {.resource = place.resource, .dialect = place.dialect, .parent = &place, .step = std::move(step)});
  };
  for (const auto& [keyword, nesting] : applicators(place.dialect.draft)) {
    if (definitions_only && keyword != "definitions") continue;
    const auto* value = schema.if_contains(keyword);
    if (value == nullptr) continue;
    // The compiler reports values of the wrong shape, because it knows the right one.
    const bool list = nesting == Nesting::list || (nesting == Nesting::schema_or_list && value->is_array());
    if (list && value->is_array()) {
      std::size_t index = 0;
      for (const auto& item : value->get_array()) {
        if (auto done = child(item, step_of(keyword, fmt::to_string(index++))); !done) return done;
      }
    } else if ((nesting == Nesting::members || nesting == Nesting::schemas_or_names) && value->is_object()) {
      for (const auto& member : value->get_object()) {
        if (nesting == Nesting::schemas_or_names && member.value().is_array()) continue;
        if (auto done = child(member.value(), step_of(keyword, member.key())); !done) return done;
      }
    } else if ((nesting == Nesting::schema || nesting == Nesting::schema_or_list) &&
               (value->is_object() || value->is_bool())) {
      if (auto done = child(*value, step_of(keyword)); !done) return done;
    }
  }
  return {};
}

Result<> Places::identify(const boost::json::value& schema, Place& place) {
  const auto& object = schema.get_object();
  const bool modern = place.dialect.draft == Draft::draft2020_12;
  if (const auto* id = object.if_contains("$id")) {
    if (!id->is_string()) return std::unexpected(misplaced(place, "\"$id\" must be a string"));
    const auto [uri, fragment] = split_fragment(id->get_string());
    if (!uri.empty()) {
      auto begun = begin_resource(resolve_uri(resources_[place.resource].uri, uri), schema, place);
      if (!begun) return begun;
    }
    if (!fragment.empty()) {
      if (modern)
        return std::unexpected(misplaced(place, "\"$id\" must not have a fragment; \"$anchor\" names a place"));
      if (auto named = name_anchor(place, fragment, schema, false); !named) return named;
    }
  }
  if (!modern) return {};
  for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
    const auto* name = object.if_contains(keyword);
    if (name == nullptr) continue;
    if (!name->is_string()) return std::unexpected(misplaced(place, fmt::format("\"{}\" must be a string", keyword)));
    auto named = name_anchor(place, name->get_string(), schema, keyword == "$dynamicAnchor");
    if (!named) return named;
  }
  return {};
}

Result<> Places::begin_resource(std::string uri, const boost::json::value& schema, Place& place) {
  if (uri.size() > kMaxUriBytes) return std::unexpected(errors::too_large("the length of a $id", kMaxUriBytes));
  uri_bytes_ += uri.size();
  const std::size_t most = options_.limits.bytes;
  if (uri_bytes_ > most) return std::unexpected(errors::too_large("the resolved $ids of a schema", most));
  if (place.parent == nullptr) {
    // The document names itself. The URI under which it was passed in stays valid, too.
    resources_[place.resource].uri = uri;
    by_uri_.try_emplace(std::move(uri), place.resource);
    return {};
  }
  const auto resource = static_cast<ResourceId>(resources_.size());
  const auto [known, added] = by_uri_.try_emplace(uri, resource);
  if (!added && &document_of(at(resources_[known->second].root)) == &document_of(place)) {
    return std::unexpected(misplaced(place, fmt::format("another schema has the $id {} too", log::printable(uri))));
  }
  resources_.push_back({.uri = std::move(uri), .root = &schema, .anchors = {}});
  place.resource = resource;
  return {};
}

Result<> Places::name_anchor(const Place& place, std::string_view name, const boost::json::value& schema,
                             bool dynamic) {
  auto& anchors = resources_[place.resource].anchors;
  const auto [known, added] = anchors.try_emplace(std::string(name), Anchor{&schema, dynamic});
  if (added) return {};
  if (known->second.schema != &schema) {
    return std::unexpected(misplaced(place, fmt::format("another schema has the anchor {} too", log::printable(name))));
  }
  known->second.dynamic = known->second.dynamic || dynamic;
  return {};
}

Result<Dialect> Places::find_dialect(std::string_view schema_uri, int depth) {
  if (const Dialect* standard = standard_dialect(schema_uri)) return *standard;
  const auto* document = find_document(split_fragment(schema_uri).uri);
  const auto* metaschema = document == nullptr ? nullptr : document->if_object();
  if (metaschema == nullptr || depth == 0) return std::unexpected(unsupported_dialect(schema_uri));
  if (const auto* vocabulary = metaschema->if_contains("$vocabulary")) return dialect_of_vocabularies(*vocabulary);
  const auto* above = metaschema->if_contains("$schema");
  if (above == nullptr || !above->is_string()) return std::unexpected(unsupported_dialect(schema_uri));
  return find_dialect(above->get_string(), depth - 1);
}

const boost::json::value* Places::find_document(std::string_view uri) const {
  const auto handed_in = options_.documents.find(uri);
  return handed_in != options_.documents.end() ? &handed_in->second : find_metaschema(uri);
}

Result<std::optional<ResourceId>> Places::find_resource(const std::string& uri) {
  const auto known = by_uri_.find(uri);
  if (known != by_uri_.end()) return known->second;
  if (const auto* document = find_document(uri)) {
    if (auto added = add(*document, uri); !added) return std::unexpected(std::move(added).error());
    return by_uri_.at(uri);
  }
  // The URI may be the `$id` of a schema inside a document that has not been added yet.
  for (const auto& [name, document] : options_.documents) {
    if (places_.contains(&document)) continue;
    if (auto added = add(document, name); !added) return std::unexpected(std::move(added).error());
    if (const auto found = by_uri_.find(uri); found != by_uri_.end()) return found->second;
  }
  return std::nullopt;
}

Result<Target> Places::resolve(const Place& from, std::string_view reference) {
  const auto [relative, fragment] = split_fragment(reference);
  const std::string uri = resolve_uri(resources_[from.resource].uri, relative);
  if (uri.size() > kMaxUriBytes) return std::unexpected(errors::too_large("the length of a $ref", kMaxUriBytes));
  const auto resource = find_resource(uri);
  if (!resource) return std::unexpected(resource.error());
  if (!*resource) {
    return std::unexpected(errors::invalid(
        fmt::format("the reference {} leads outside: there is no {} in this document or among those handed in, and "
                    "references are never fetched",
                    log::printable(reference), log::printable(uri))));
  }
  if (fragment.empty())
    return Target{.schema = resources_[**resource].root, .resource = **resource, .dynamic_anchor = {}};
  const auto decoded = percent_decoded(fragment);
  if (!decoded)
    return std::unexpected(errors::invalid(fmt::format("the reference {} is broken", log::printable(reference))));
  if (decoded->starts_with('/')) {
    auto found = find_pointer(**resource, *decoded);
    if (found && found->schema == nullptr) {
      return std::unexpected(
          errors::invalid(fmt::format("the reference {} leads to nothing", log::printable(reference))));
    }
    return found;
  }
  const auto& anchors = resources_[**resource].anchors;
  const auto anchor = anchors.find(*decoded);
  if (anchor == anchors.end()) {
    return std::unexpected(
        errors::invalid(fmt::format("the reference {} names an anchor that is not there", log::printable(reference))));
  }
  return Target{.schema = anchor->second.schema,
                .resource = **resource,
                .dynamic_anchor = anchor->second.dynamic ? std::string_view(anchor->first) : std::string_view()};
}

Result<Target> Places::find_pointer(ResourceId resource, std::string_view pointer) {
  const auto* value = resources_[resource].root;
  const Place* nearest = &at(value);
  std::string_view behind_nearest = pointer;
  while (!pointer.empty()) {
    const auto token = take_pointer_token(pointer);
    value = token ? step_into(*value, *token) : nullptr;
    if (value == nullptr) return Target{};
    if (const auto place = places_.find(value); place != places_.end()) {
      nearest = &place->second;
      behind_nearest = pointer;
    }
  }
  // A reference may point to a value that is not under a schema keyword. The reference makes it a schema.
  if (!places_.contains(value)) {
    auto scanned = scan(*value, {.resource = nearest->resource,
                                 .dialect = nearest->dialect,
                                 .parent = nearest,
                                 .step = std::string(behind_nearest)});
    if (!scanned) return std::unexpected(std::move(scanned).error());
  }
  return Target{.schema = value, .resource = at(value).resource, .dynamic_anchor = {}};
}

}  // namespace proteus::json::schema
