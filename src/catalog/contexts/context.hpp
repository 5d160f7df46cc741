#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/contexts/entry_patterns.hpp"
#include "catalog/contexts/lens.hpp"
#include "catalog/contexts/manifest.hpp"
#include "catalog/definitions/kind.hpp"

namespace proteus::catalog {

// Origin of a part of a description.
enum class PartOf : std::uint8_t { schema, supplement, siblings };
std::string_view to_string(PartOf origin);

// A text that a context appends to a description.
struct Part {
  PartOf origin;
  std::string name;  // of the schema, or the key of the supplement
  std::string text;
};

// Another context that descriptions mention.
struct Sibling {
  std::string name;
  std::string display_name;

  friend bool operator==(const Sibling&, const Sibling&) = default;
};

// One context, with everything it refers to resolved. Immutable and thread-safe.
class Context {
 public:
  // `manifests` must contain the context. Siblings without a manifest are not served and are ignored.
  Context(const std::string& name, const Manifests& manifests, const TypesOf& types);

  const std::string& name() const { return name_; }
  const ContextManifest& manifest() const { return manifest_; }
  // Returns the name for people; `name` if the manifest has none.
  const std::string& display_name() const;
  // Returns the siblings that are served: first those that the manifest names, then the parent. Never contains this
  // context.
  const std::vector<Sibling>& siblings() const { return siblings_; }
  // Returns the instructions that the manifest has for clients; empty if it has none.
  const std::string& instructions() const { return instructions_; }
  // Returns the types of the context's dataset; nothing if it has no dataset, or one that cannot be used.
  const std::optional<DatasetTypes>& types() const { return types_; }

  // Whether the context shows an entry of these names: `include` lets it in and `exclude` does not keep it out.
  bool admits(Kind kind, const Names& names) const;
  // Whether the context may leave out an entry of that kind.
  bool filters(Kind kind) const { return selection_.filters(kind); }
  // Returns the parts that follow a tool's description, in order, without the siblings. A blank text is not a part.
  std::vector<Part> parts(const Names& tool) const;
  // Whether the manifest selects the tool to mention siblings; nothing if it has no `sibling_tools`.
  std::optional<bool> mentions_siblings(const Names& tool) const;

  // Equal for contexts that are equal in everything.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  struct Guidance {
    std::string schema;
    std::vector<std::string> tools;
    EntryPatterns patterns;  // of `tools`
    std::string text;
  };

  void find_siblings(const Manifests& manifests);
  void find_guidance(const Manifests& manifests);
  std::string expanded(std::string_view text) const;
  std::string write_fingerprint() const;

  std::string name_;
  ContextManifest manifest_;
  EntrySelection selection_;
  std::optional<EntryPatterns> sibling_tools_;
  std::optional<DatasetTypes> types_;
  std::vector<Sibling> siblings_;
  std::vector<Guidance> guidance_;
  std::map<std::string, std::string, std::less<>> supplements_;
  std::string instructions_;
  std::string fingerprint_;
};

// Returns the text that mentions the siblings; empty if there are none.
std::string sibling_text(std::span<const Sibling> siblings);

// Returns the definition with `more` at the end of its description, after a blank line if the description is not empty.
// Keeps every other byte.
std::string append_to_description(std::string_view definition, std::string_view more);

// Returns the path of a context's endpoint.
std::string context_path(std::string_view name);

// Returns the JSON document by which a context describes itself to clients.
std::string write_context(const Context& context, std::span<const Sibling> siblings);

}  // namespace proteus::catalog
