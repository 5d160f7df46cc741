#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/view/cursor.hpp"
#include "catalog/view/view.hpp"
#include "gateway/connections/shared_requests.hpp"
#include "gateway/connections/worker.hpp"
#include "gateway/request/service.hpp"
#include "gateway/routing/caller_lists.hpp"
#include "server/core/call.hpp"

namespace proteus::gateway {

// Returns one page of a list that is entirely in the catalog.
mcp::Outcome cached_page(std::shared_ptr<const catalog::View> view, mcp::CacheScope scope, catalog::Kind kind,
                         const mcp::Request& request, const catalog::Cursors& cursors, std::size_t page_size);

// Collects the names of a list; of a long one in the background.
Task<ListedNames::Pointer> names_of(ServedUpstream upstream, std::vector<catalog::DefinitionList::Pointer> pages);

// Reads pages of upstreams' lists now, as the caller of one request.
class LivePages {
 public:
  // All arguments must outlive it.
  LivePages(server::Call& call, Worker& worker, UpstreamMeans means) : call_(call), worker_(worker), means_(means) {}

  // Reads one page. `cursor` is the upstream's own, empty for its first page. Concurrent requests with the same key
  // share an upstream request; without a key it is not shared.
  Task<LivePagePointer> get(ServedUpstream upstream, catalog::Kind kind, std::string cursor,
                            std::optional<std::string> key);
  using Pages = std::vector<catalog::DefinitionList::Pointer>;
  // Reads all pages, within the time `most`, and adds their names to `into`.
  Task<Result<Pages>> read_all(ServedUpstream upstream, catalog::Kind kind, CallerLists& into,
                               std::chrono::milliseconds most);

 private:
  struct Wanted {
    ServedUpstream upstream;
    catalog::Kind kind;
    std::string cursor;
  };

  Task<LivePagePointer> fetch(Wanted wanted);
  Task<Result<Pages>> read_pages(ServedUpstream upstream, catalog::Kind kind, const std::string& caller);
  static client::Params params_of(const Wanted& wanted);
  Task<Result<client::Answer>> request(const Wanted& wanted);

  server::Call& call_;
  Worker& worker_;
  const UpstreamMeans means_;
};

// A list that needs upstreams: those that are listed live are asked each time, as this caller; those whose lists in the
// catalog are too old are refreshed. The parts follow one another in the order of the upstreams. If a live upstream's
// page ends before its list, the page ends there, too, and its cursor contains the upstream's.
class LiveList {
 public:
  LiveList(server::Call& call, Worker& worker, UpstreamMeans means, catalog::Kind kind, const catalog::Cursors& cursors,
           std::size_t page_size, RememberedLists& remembered);

  Task<mcp::Outcome> run();

 private:
  struct Part;  // one live upstream's page
  // A live upstream that has entries on pages before this one.
  struct Earlier {
    ServedUpstream upstream;
    std::uint32_t place;
    const ListedNames* names = nullptr;  // null if its list could not be read
  };

  Task<> ask(std::shared_ptr<Part> part);
  // Returns what the view shows of a list. Long lists are processed in the background.
  Task<catalog::DefinitionList::Pointer> through_lens(const Part& part, catalog::DefinitionList::Pointer list) const;
  std::optional<std::string> shared_by(const Part& part) const;
  // Remembers the names for routing, so that the next call goes to the upstream whose entry this list shows.
  Task<> remember(const Part& part, LivePagePointer page, RememberedLists::Reading reading);
  Result<catalog::Cursor> begin() const;
  mcp::Outcome compose(const catalog::Cursor& from);
  // Adds definitions of the catalog up to the place `until`; returns false if the page is full.
  bool add_cached(catalog::Position& position, std::uint32_t until);
  bool add_live(Part& part);
  Task<> read_earlier(std::shared_ptr<Earlier> earlier);
  // Whether a live upstream before this place lists the name, on this page or an earlier one.
  bool is_taken(std::string_view name, std::uint32_t place) const;
  bool clashes() const;
  // Whether the list also has entries of the gateway itself, or is for a caller of upstreams that are not listed live.
  bool has_other_sources() const;

  server::Call& call_;
  Worker& worker_;
  LivePages pages_;
  CallerLists lists_;
  const catalog::Kind kind_;
  const catalog::Cursors& cursors_;
  const std::size_t page_size_;

  std::shared_ptr<const catalog::View> view_;
  bool any_live_ = false;                     // whether an upstream that is listed live is on any page of the list
  std::vector<std::shared_ptr<Part>> parts_;  // by place
  std::vector<std::shared_ptr<Earlier>> earlier_;
  std::set<std::string, std::less<>> taken_;  // names of live definitions on this page
  mcp::Payload payload_;
  std::size_t count_ = 0;
  std::optional<catalog::Cursor> next_;
  std::vector<std::string> missing_;
  std::optional<Error> last_error_;
};

}  // namespace proteus::gateway
