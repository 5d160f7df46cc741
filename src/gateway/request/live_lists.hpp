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

// One page of a list that is all in the catalog.
mcp::Outcome cached_page(std::shared_ptr<const catalog::View> view, mcp::CacheScope scope, catalog::Kind kind,
                         const mcp::Request& request, const catalog::Cursors& cursors, std::size_t page_size);

// Pages of lists as upstreams give them now, asked for as the caller of one request.
class LivePages {
 public:
  // All of these outlive it.
  LivePages(server::Call& call, Worker& worker, UpstreamMeans means) : call_(call), worker_(worker), means_(means) {}

  // `cursor` is the upstream's own, empty for its first page. Those who ask at once with the same key share a request;
  // without a key it is not shared.
  Task<LivePagePointer> get(ServedUpstream upstream, catalog::Kind kind, std::string cursor,
                            std::optional<std::string> key);
  using Pages = std::vector<catalog::DefinitionList::Pointer>;
  // All pages, within some time, also into the lists of the same caller.
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

// A list for which upstreams are asked: those that are listed live, each time and as this caller; and those whose part
// of the catalog is too old to use. Parts follow one another in the order of the upstreams. A page ends early where a
// live upstream's own page does; the cursor then holds that upstream's.
class LiveList {
 public:
  LiveList(server::Call& call, Worker& worker, UpstreamMeans means, catalog::Kind kind, const catalog::Cursors& cursors,
           std::size_t page_size, RememberedLists& remembered);

  Task<mcp::Outcome> run();

 private:
  struct Part;  // one live upstream's page
  // What a live upstream lists whose definitions are on pages before this one.
  struct Earlier {
    ServedUpstream upstream;
    std::uint32_t place;
    const ListedNames* names = nullptr;  // null where it could not be read
  };

  Task<> ask(std::shared_ptr<Part> part);
  // What the view shows of it. In the background where it is long.
  Task<catalog::DefinitionList::Pointer> through_lens(const Part& part, catalog::DefinitionList::Pointer list) const;
  std::optional<std::string> shared_by(const Part& part) const;
  // So that what is called next goes to whom this list shows.
  void remember(const Part& part, const LivePage& page, RememberedLists::Reading reading);
  Result<catalog::Cursor> begin() const;
  mcp::Outcome compose(const catalog::Cursor& from);
  // Adds definitions of the catalog up to a place; false where the page is full.
  bool add_cached(catalog::Position& position, std::uint32_t until);
  bool add_live(Part& part);
  Task<> read_earlier(std::shared_ptr<Earlier> earlier);
  // Whether a live upstream in front of this place lists it, on this page or on one before.
  bool is_taken(std::string_view name, std::uint32_t place) const;
  bool clashes() const;

  server::Call& call_;
  Worker& worker_;
  LivePages pages_;
  CallerLists lists_;
  const catalog::Kind kind_;
  const catalog::Cursors& cursors_;
  const std::size_t page_size_;

  std::shared_ptr<const catalog::View> view_;
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
