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

// One tool, prompt, resource or template. Immutable; everything it points to belongs to the list it is in.
struct Definition {
  std::string_view own;    // the name or URI at the provider
  std::string_view shown;  // the one clients see
  // As clients see it: the provider's own bytes, where only the name may be another. Line breaks between its tokens are
  // spaces, so that it fits into one line of any transport.
  std::string_view text;
  // Of the provider's original, or of what an operator has made of it: of its value, not of how it is written.
  json::Digest hash;
  // Of a tool: the parameters mirrored in headers; null for none.
  const std::vector<mcp::MirroredParameter>* mirrored = nullptr;
  // Of a template: tells the URIs it may stand for.
  const mcp::UriPattern* pattern = nullptr;
  // Of a tool that an operator has shaped so that its calls are others: what they need. Null for all others.
  const ShapedTool* shaped = nullptr;
  bool read_only = false;  // of a tool: it declares that it changes nothing (`readOnlyHint`)
  bool renamed = false;    // shown by a name that an operator gave it
  bool task_only = false;  // of a tool: it can be called only as a task of 2025-11-25
};

// The definition as the provider wrote it, up to white space and the spelling of its own name. Takes time proportional
// to its size.
std::string original_text(Kind kind, const Definition& definition);

// Something a provider listed that is not offered, and why.
struct Omission {
  Kind kind;
  std::string name;  // printable, shortened; empty where it has none
  std::string reason;

  friend bool operator==(const Omission&, const Omission&) = default;
};

}  // namespace proteus::catalog
