#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/contexts/access.hpp"
#include "catalog/contexts/lens.hpp"
#include "catalog/definitions/kind.hpp"
#include "catalog/pins/change.hpp"
#include "catalog/view/state.hpp"
#include "mcp/reply.hpp"

namespace proteus::catalog {

// A definition and the snapshot it is from; null for none. Valid as long as the view lives.
struct Found {
  const Definition* definition = nullptr;
  const Snapshot* snapshot = nullptr;

  explicit operator bool() const { return definition != nullptr; }
};

// Where a page begins: after this name, in the list of this place. Valid even if the name has gone.
struct Position {
  std::uint32_t place = 0;
  std::string name;  // empty: from the beginning of the place

  friend bool operator==(const Position&, const Position&) = default;
};

// A part of a list as pieces of JSON: the inside of the array. The pieces are valid as long as the view lives.
struct Page {
  std::vector<std::string_view> pieces;
  std::size_t definitions = 0;
  std::optional<Position> next;  // nothing after the last page

  // `view` must own the view of this page; the payload keeps it alive.
  void append_to(mcp::Payload& payload, const std::shared_ptr<const void>& view) const;
  std::string str() const;
};

// A name that a provider offers but another provider wins.
struct Shadowed {
  Kind kind;
  std::string name;
  UpstreamName by;
};

// What a view is made of besides the state of the catalog.
struct Layers {
  Access access = Access::all();
  // Snapshots that come before the catalog, such as the tools of a session. Neither the access nor the lens is applied
  // to them. At most View::kMaxFront.
  std::vector<SnapshotPointer> front;
  // Applied to the part of the catalog that the access allows; null for none.
  std::shared_ptr<const Lens> lens = {};
  // The context through which the caller sees the server; cursors are bound to it.
  std::string context = {};
  bool personal = false;  // whether any of this is for one caller, not for all in the same context
  bool searched = false;  // whether the caller finds tools by searching, with tools in front
};

// What one kind of caller sees: a pure function of the catalog's state and of layers. A name belongs to its first
// holder, in the order of the layers and then of the configured providers. A provider that the caller may not use does
// not exist here and takes no name from another. Immutable and thread-safe. Keeps its state alive.
//
// The view of everything costs nothing to make. Any other takes time and memory proportional to the number of providers
// and of names that are shadowed or in front. A lens adds the time to look through each snapshot for which it has no
// cached result.
class View {
 public:
  // Number of places reserved for the front. Places of the catalog follow, so that they stay the same if the front
  // grows between pages.
  static constexpr std::uint32_t kMaxFront = 16;

  // Throws std::logic_error if the front has too many layers.
  explicit View(CatalogState::Pointer state, Layers layers = {});

  const CatalogState& state() const { return *state_; }
  const Access& access() const { return layers_.access; }
  // Whether all callers in the same context see the same.
  bool is_shared() const { return layers_.access.is_all() && !layers_.personal; }
  bool is_searched() const { return layers_.searched; }
  // Returns the filter of the access followed by the lens of the layers; null if there is neither. Live lists are seen
  // through this lens, too.
  const Lens* lens() const { return lens_.get(); }
  // Returns what cursors are bound to: the access and the context.
  const std::string& scope() const { return scope_; }

  // Finds a definition by the name clients see, or by an alias. Takes no lock and allocates nothing.
  Found find(Kind kind, std::string_view name) const;
  // Returns the place of something that was found, in the order of the layers and then of the providers.
  std::uint32_t place_of(const Found& found) const;
  // Finds the template that a URI matches: of the first provider that has one, the most precise.
  Found match_template(std::string_view uri) const;
  // Finds the template of one of several URIs, within what the previous ones have left of each provider's budget.
  class TemplateBudget;
  Found match_template(std::string_view uri, TemplateBudget& budget) const;

  // Returns at most `size` definitions (at least one) that follow a position and come before the place `until`.
  // Neighbours form one piece.
  Page page(Kind kind, const Position& from, std::size_t size, std::uint32_t until = UINT32_MAX) const;
  // Returns what the view shows of a provider; null if the provider is unknown, not allowed, or has not published.
  const Snapshot* seen(const UpstreamName& upstream) const;
  bool has_modern_output() const;
  // The first call looks through all lists; the result is cached.
  bool has_task_only() const;
  // Returns the number of definitions on all pages together.
  std::size_t count(Kind kind) const;

  // What the view shows of one provider: its snapshot, and the sorted indices of the definitions whose names another
  // provider wins. Valid as long as the view lives.
  struct Part {
    const Snapshot* snapshot;
    std::span<const std::uint32_t> lost;
  };
  // Returns the parts of all providers that have a list of that kind, in the order of the layers and then of the
  // providers.
  std::vector<Part> parts(Kind kind) const;

  // Returns the names of a provider that another one wins; empty if the provider is not in the view.
  std::vector<Shadowed> shadowed(const UpstreamName& upstream) const;

 private:
  std::uint32_t places() const { return kMaxFront + state_->places(); }
  const Snapshot* at(std::uint32_t place) const;
  std::span<const std::uint32_t> losers(std::uint32_t place, Kind kind) const;
  bool is_plain() const { return !seen_; }
  bool any_tools(bool (DefinitionList::*has)() const) const;

  // Returns the first definition with a name, and its place.
  std::pair<Found, std::uint32_t> winner(Kind kind, std::string_view name, std::uint32_t hash) const;
  void choose_seen();
  void find_losers(Kind kind);

  CatalogState::Pointer state_;
  Layers layers_;
  std::shared_ptr<const Lens> lens_;
  std::string scope_;
  // By rank. Empty in the view of everything.
  std::optional<std::vector<const Snapshot*>> seen_;
  std::vector<SnapshotPointer> through_lens_;
  std::map<std::pair<std::uint32_t, Kind>, CatalogState::Indices> losers_;
  enum class Known : std::uint8_t { nothing, no, yes };
  mutable std::atomic<Known> task_only_ = Known::nothing;
};

// Returns the lists of a view that a change has changed: compares what is found by each changed name before and after.
// If another provider wins the name in both views, the list has not changed. Costs time proportional to the change.
KindSet concerned(const View& before, const View& after, const Change& change);

// Returns the lists that two views write differently, by comparing their whole content: for differences that are no
// change of the catalog, such as another lens. Costs time proportional to both.
KindSet differing(const View& before, const View& after);

// Limits the work that the templates of each provider may cause in all. Templates that are slow to match are no longer
// found, but do not keep those of other providers from being found.
class View::TemplateBudget {
 public:
  explicit TemplateBudget(std::size_t steps = 10 * mcp::UriPattern::kSteps) : steps_(steps) {}
  std::size_t& of(std::uint32_t place) { return left_.try_emplace(place, steps_).first->second; }

 private:
  std::size_t steps_;
  std::map<std::uint32_t, std::size_t> left_;
};

}  // namespace proteus::catalog
