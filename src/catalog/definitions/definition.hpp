#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/definitions/kind.hpp"
#include "json/canonical.hpp"
#include "mcp/headers.hpp"
#include "mcp/uri_pattern.hpp"

namespace proteus::catalog {

struct ShapedTool;

// One tool, prompt, resource or template. Immutable. What it points to belongs to the list that contains it, or to the
// list from which that one is derived.
struct Definition {
  std::string_view own;    // the provider's own name or URI
  std::string_view shown;  // the name or URI that clients see
  // The JSON text as clients see it: the provider's own bytes, except for the name. Line breaks between tokens are
  // replaced by spaces, so that the text fits on one line of any transport.
  std::string_view text;
  // Digest of the JSON value, however it is written: of the provider's original, or of the definition as shaped by an
  // operator.
  json::Digest hash;
  // Of a tool: the parameters mirrored in headers; null for none.
  const std::vector<mcp::MirroredParameter>* mirrored = nullptr;
  // Of a template: matches the URIs that it may stand for.
  const mcp::UriPattern* pattern = nullptr;
  // Of a tool whose calls an operator has changed: what its calls need. Null for all others.
  const ShapedTool* shaped = nullptr;
  bool read_only = false;  // of a tool: declares that it changes nothing (`readOnlyHint`)
  bool renamed = false;    // shown by a name that an operator gave it
  bool task_only = false;  // of a tool: can be called only as a task of 2025-11-25
};

// Returns the text with the provider's own name instead of the one clients see. If neither a shape nor a lens has
// changed the definition, this is what the provider wrote, up to white space and the spelling of the name. Takes time
// proportional to its size.
std::string original_text(Kind kind, const Definition& definition);

// An entry that a provider listed but that is not offered, and the reason.
struct Omission {
  Kind kind;
  std::string name;  // printable and shortened; empty if it has none
  std::string reason;

  friend bool operator==(const Omission&, const Omission&) = default;
};

}  // namespace proteus::catalog
