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

// A definition and whose it is; null where there is none. Lives as long as the view.
struct Found {
  const Definition* definition = nullptr;
  const Snapshot* snapshot = nullptr;

  explicit operator bool() const { return definition != nullptr; }
};

// What is left before a page: everything up to a name of one place. It holds also where that name has gone.
struct Position {
  std::uint32_t place = 0;
  std::string name;  // empty: the place from its beginning

  friend bool operator==(const Position&, const Position&) = default;
};

// A part of a list as pieces of JSON: the inside of the array. The pieces live as long as the view.
struct Page {
  std::vector<std::string_view> pieces;
  std::size_t definitions = 0;
  std::optional<Position> next;  // none after the last page

  // `view` keeps the view alive.
  void append_to(mcp::Payload& payload, const std::shared_ptr<const void>& view) const;
  std::string str() const;
};

// One name that a provider offers and another one wins.
struct Shadowed {
  Kind kind;
  std::string name;
  UpstreamName by;
};

// What a view is made of besides the state of the catalog.
struct Layers {
  Access access = Access::all();
  // What comes before the catalog, whatever the access: such as the tools of a session. At most View::kMaxFront.
  std::vector<SnapshotPointer> front;
  // What is left of the catalog is looked at through it; null for nothing. The front is as it is to be seen.
  std::shared_ptr<const Lens> lens = {};
  // Which part of the server is looked at; what continues a list is bound to it.
  std::string context = {};
  bool personal = false;  // whether any of this is so for one caller, and not for all who look at the same part
  bool searched = false;  // whether tools are found by searching, with what stands in front
};

// What one kind of caller sees: a pure function of the catalog's state and of layers. A name is its first holder's, in
// the order of the layers and then of the configured providers; a provider that the caller may not use hides nothing
// and is not there at all. Immutable, and safe to use from any thread. It keeps the state it was made from.
//
// The view of everything costs nothing to make. Any other costs time and memory in proportion to the number of
// providers, and to the names that are shadowed or in front.
class View {
 public:
  // Places of the front come first; those of the catalog are counted from here, so that the front may grow between
  // pages.
  static constexpr std::uint32_t kMaxFront = 16;

  // Throws std::logic_error where the front has too many layers.
  explicit View(CatalogState::Pointer state, Layers layers = {});

  const CatalogState& state() const { return *state_; }
  const Access& access() const { return layers_.access; }
  // Whether others see the same whoever they are.
  bool is_shared() const { return layers_.access.is_all() && !layers_.personal; }
  bool is_searched() const { return layers_.searched; }
  // What the access leaves, and then the lens of the layers; null for neither. What is listed live is looked at through
  // it, too.
  const Lens* lens() const { return lens_.get(); }
  // What a cursor is bound to.
  const std::string& scope() const { return scope_; }

  // By the name clients see, or by an alias. Takes no lock, and allocates nothing.
  Found find(Kind kind, std::string_view name) const;
  // Where something that was found stands in the order of the layers and providers.
  std::uint32_t place_of(const Found& found) const;
  // The template that a URI is of: the first provider that has one, and of its templates the most precise.
  Found match_template(std::string_view uri) const;
  // The same for one of several URIs, with what the others have left to do for each provider's templates.
  class TemplateBudget;
  Found match_template(std::string_view uri, TemplateBudget& budget) const;

  // At most so many definitions from a position on, which is at least one, and none of the place `until` or behind it.
  // Runs of neighbours are one piece.
  Page page(Kind kind, const Position& from, std::size_t size, std::uint32_t until = UINT32_MAX) const;
  // What is seen of a provider; null where that is nothing at all.
  const Snapshot* seen(const UpstreamName& upstream) const;
  bool has_modern_output() const;
  // Looks once.
  bool has_task_only() const;
  // How many definitions all pages have.
  std::size_t count(Kind kind) const;

  // What is seen of one provider: a list, and the indices in it, in order, of what another provider's name hides. Lives
  // as long as the view.
  struct Part {
    const Snapshot* snapshot;
    std::span<const std::uint32_t> lost;
  };
  // Of all that have any of that kind, in the order of the layers and providers.
  std::vector<Part> parts(Kind kind) const;

  // What a provider offers in vain; nothing where it is not in the view.
  std::vector<Shadowed> shadowed(const UpstreamName& upstream) const;

 private:
  std::uint32_t places() const { return kMaxFront + state_->places(); }
  const Snapshot* at(std::uint32_t place) const;
  std::span<const std::uint32_t> losers(std::uint32_t place, Kind kind) const;
  bool is_plain() const { return !seen_; }
  bool any_tools(bool (DefinitionList::*has)() const) const;

  // The first that shows a name, and where.
  std::pair<Found, std::uint32_t> winner(Kind kind, std::string_view name, std::uint32_t hash) const;
  void choose_seen();
  void find_losers(Kind kind);

  CatalogState::Pointer state_;
  Layers layers_;
  std::shared_ptr<const Lens> lens_;
  std::string scope_;
  // By rank; only where the view is not of everything.
  std::optional<std::vector<const Snapshot*>> seen_;
  std::vector<SnapshotPointer> through_lens_;
  std::map<std::pair<std::uint32_t, Kind>, CatalogState::Indices> losers_;
  enum class Known : std::uint8_t { nothing, no, yes };
  mutable std::atomic<Known> task_only_ = Known::nothing;
};

// Which lists of a view a change has changed: for each name in it, what is found before and after is compared. A change
// behind a name that another provider holds concerns nobody who sees that one. Costs in proportion to the change.
KindSet concerned(const View& before, const View& after, const Change& change);

// Which lists two views write differently, by all that is in them: for what is no change of the catalog, such as
// another lens. Costs in proportion to both.
KindSet differing(const View& before, const View& after);

// How much work the templates of each provider may take in all, so that those which are slow to match are not found any
// more and keep nobody else from being found.
class View::TemplateBudget {
 public:
  explicit TemplateBudget(std::size_t steps = 10 * mcp::UriPattern::kSteps) : steps_(steps) {}
  std::size_t& of(std::uint32_t place) { return left_.try_emplace(place, steps_).first->second; }

 private:
  std::size_t steps_;
  std::map<std::uint32_t, std::size_t> left_;
};

}  // namespace proteus::catalog
