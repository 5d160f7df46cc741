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

// Where a part of a description comes from.
enum class PartOf : std::uint8_t { schema, supplement, siblings };
std::string_view to_string(PartOf origin);

// What is appended to a description.
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

// One context with everything it refers to looked up. Immutable, and thread-safe.
class Context {
 public:
  // The manifests name the context. Siblings that they do not have are not served.
  Context(const std::string& name, const Manifests& manifests, const TypesOf& types);

  const std::string& name() const { return name_; }
  const ContextManifest& manifest() const { return manifest_; }
  // What people call it; its name where nothing else is said.
  const std::string& display_name() const;
  // Those that are served: first those named, then its parent; never itself.
  const std::vector<Sibling>& siblings() const { return siblings_; }
  // The instructions that were written for it; empty for none.
  const std::string& instructions() const { return instructions_; }
  // Of its dataset; nothing where it has none, or one that cannot be used.
  const std::optional<DatasetTypes>& types() const { return types_; }

  // Whether a pattern of the manifest lets it in, and none keeps it out.
  bool admits(Kind kind, const Names& names) const;
  // Whether a pattern speaks of that kind at all.
  bool filters(Kind kind) const { return selection_.filters(kind); }
  // What the description of a tool gets, in order, siblings aside. Blank texts are no parts.
  std::vector<Part> parts(const Names& tool) const;
  // Whether the manifest names the tool as one that mentions siblings; nothing where it names none at all.
  std::optional<bool> mentions_siblings(const Names& tool) const;

  // The same for contexts that are the same in everything.
  const std::string& fingerprint() const { return fingerprint_; }

 private:
  struct Guidance {
    std::string schema;
    std::vector<std::string> tools;
    EntryPatterns patterns;  // of those
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

// What is appended for siblings; empty where there are none.
std::string sibling_text(std::span<const Sibling> siblings);

// A definition's text with something more at the end of its description, after a blank line where it has one already.
// Every other byte stays.
std::string append_to_description(std::string_view definition, std::string_view more);

// The path that clients find a context at.
std::string context_path(std::string_view name);

// A context as clients can read it: JSON.
std::string write_context(const Context& context, std::span<const Sibling> siblings);

}  // namespace proteus::catalog
