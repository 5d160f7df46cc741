#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/contexts/context.hpp"
#include "catalog/contexts/listed_lens.hpp"
#include "catalog/contexts/seen_snapshots.hpp"

namespace proteus::catalog {

// A context as seen by callers that may enter the same of its siblings. Caches what it derives from a snapshot for as
// long as the snapshot lives. Thread-safe.
class ContextLens final : public Lens {
 public:
  ContextLens(std::shared_ptr<const Context> context, std::vector<Sibling> siblings);

  const Context& context() const { return *context_; }
  const std::vector<Sibling>& siblings() const { return siblings_; }
  // Equal for lenses that show the same.
  const std::string& fingerprint() const { return fingerprint_; }

  SnapshotPointer through(const SnapshotPointer& snapshot) const override;
  DefinitionList::Pointer through(const DefinitionList::Pointer& list) const override;
  bool admits(Kind kind, const Names& names) const override { return context_->admits(kind, names); }

  // Returns the lens for the lists of callers who search. It lives as long as this lens.
  const ListedLens& listed() const { return listed_; }

 private:
  const std::shared_ptr<const Context> context_;
  const std::vector<Sibling> siblings_;
  const std::string fingerprint_;
  const ListedLens listed_;
  mutable SeenSnapshots seen_;
};

// What a lens appends to the tools of one list. Siblings are mentioned on the tools that the manifest selects for that.
// If it selects none, one tool mentions them: the first with a supplement, or else the first with guidance, or else the
// first. The lens and the list must outlive the ToolParts.
class ToolParts {
 public:
  ToolParts(const ContextLens& lens, const DefinitionList& list);

  // Returns the parts in order. `tool` must be an element of the list.
  std::vector<Part> of(const Definition& tool) const;

 private:
  Names names_of(const Definition& tool) const { return {tool.shown, tool.own, list_.rules().prefix}; }
  const Definition* choose() const;

  const ContextLens& lens_;
  const DefinitionList& list_;
  const Definition* const chosen_;  // mentions siblings; null for none, or if the manifest decides
};

// All contexts, as made from one reading of their manifests. Thread-safe; only the cache of lenses changes.
class Contexts {
 public:
  using Pointer = std::shared_ptr<const Contexts>;

  // Takes over the lenses of `previous` (may be null) whose context has not changed, with what they have derived.
  static Pointer make(Manifests manifests, TypesOf types = {}, const Contexts* previous = nullptr);
  // Returns contexts of the same manifests with the current types of their datasets.
  Pointer renewed() const;

  bool empty() const { return contexts_.empty(); }
  // Returns null if there is no context of this name.
  std::shared_ptr<const Context> find(std::string_view name) const;
  const std::map<std::string, std::shared_ptr<const Context>, std::less<>>& all() const { return contexts_; }

  using MayEnter = std::function<bool(std::string_view context)>;
  // Returns a context as seen by a caller that may enter the contexts for which `may_enter` is true; null if there is
  // no context of this name. Takes a short lock.
  std::shared_ptr<const ContextLens> lens(std::string_view name, const MayEnter& may_enter) const;
  // Derives in advance what all lenses that were requested so far show of a snapshot, so that requests find it cached.
  void look_at(const SnapshotPointer& snapshot) const;

  // Returns the resources by which the named contexts describe themselves, as a snapshot of a provider called
  // `provider`. Skips names without a context; null if none is left.
  SnapshotPointer resources(const UpstreamName& provider, const std::vector<std::string>& names) const;

 private:
  Contexts(Manifests manifests, TypesOf types);

  const Manifests manifests_;
  const TypesOf types_;
  std::map<std::string, std::shared_ptr<const Context>, std::less<>> contexts_;
  mutable std::mutex mutex_;
  // By fingerprint. May contain lenses of earlier contexts that nobody requests any more.
  mutable std::map<std::string, std::shared_ptr<const ContextLens>, std::less<>> lenses_;
};

inline constexpr std::string_view kContextScheme = "context://";

}  // namespace proteus::catalog
