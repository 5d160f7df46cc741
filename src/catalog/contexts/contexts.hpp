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

// A context as those see it who may enter the same of its siblings. What it makes of a snapshot is made once, and kept
// for as long as the snapshot lives. Thread-safe.
class ContextLens final : public Lens {
 public:
  ContextLens(std::shared_ptr<const Context> context, std::vector<Sibling> siblings);

  const Context& context() const { return *context_; }
  const std::vector<Sibling>& siblings() const { return siblings_; }
  // The same for lenses that show the same.
  const std::string& fingerprint() const { return fingerprint_; }

  SnapshotPointer through(const SnapshotPointer& snapshot) const override;
  DefinitionList::Pointer through(const DefinitionList::Pointer& list) const override;
  bool admits(Kind kind, const Names& names) const override { return context_->admits(kind, names); }

  // The same for the lists of callers who search. It lives as long as the lens.
  const ListedLens& listed() const { return listed_; }

 private:
  const std::shared_ptr<const Context> context_;
  const std::vector<Sibling> siblings_;
  const std::string fingerprint_;
  const ListedLens listed_;
  mutable SeenSnapshots seen_;
};

// What a lens appends to the tools of one list. Siblings are mentioned on the tools that the manifest names for that;
// where it names none, on one tool: the first with a supplement, or else with guidance, or else the first of all. The
// lens and the list outlive it.
class ToolParts {
 public:
  ToolParts(const ContextLens& lens, const DefinitionList& list);

  // In order. The tool is of the list.
  std::vector<Part> of(const Definition& tool) const;

 private:
  Names names_of(const Definition& tool) const { return {tool.shown, tool.own, list_.rules().prefix}; }
  const Definition* choose() const;

  const ContextLens& lens_;
  const DefinitionList& list_;
  const Definition* const chosen_;  // to mention siblings; null where there is none, or the manifest decides
};

// The contexts there are, as one reading of their manifests made them. Immutable for who reads it; thread-safe.
class Contexts {
 public:
  using Pointer = std::shared_ptr<const Contexts>;

  // Lenses that `previous` (may be null) has, and that show the same, are taken over with what they have made.
  static Pointer make(Manifests manifests, TypesOf types = {}, const Contexts* previous = nullptr);
  // The same manifests, with the types that datasets have now.
  Pointer renewed() const;

  bool empty() const { return contexts_.empty(); }
  // Null where there is none of this name.
  std::shared_ptr<const Context> find(std::string_view name) const;
  const std::map<std::string, std::shared_ptr<const Context>, std::less<>>& all() const { return contexts_; }

  using MayEnter = std::function<bool(std::string_view context)>;
  // How a context looks to whom may enter these; null where there is none of this name. Takes a short lock.
  std::shared_ptr<const ContextLens> lens(std::string_view name, const MayEnter& may_enter) const;
  // Works out what all lenses that were asked for show of a snapshot, so that it is there when somebody looks.
  void look_at(const SnapshotPointer& snapshot) const;

  // The resources by which contexts describe themselves, as a snapshot of a provider of this name: of those named,
  // as far as they exist; null where none does.
  SnapshotPointer resources(const UpstreamName& provider, const std::vector<std::string>& names) const;

 private:
  Contexts(Manifests manifests, TypesOf types);

  const Manifests manifests_;
  const TypesOf types_;
  std::map<std::string, std::shared_ptr<const Context>, std::less<>> contexts_;
  mutable std::mutex mutex_;
  // By fingerprint. Some may be of before, and not asked for any more.
  mutable std::map<std::string, std::shared_ptr<const ContextLens>, std::less<>> lenses_;
};

inline constexpr std::string_view kContextScheme = "context://";

}  // namespace proteus::catalog
