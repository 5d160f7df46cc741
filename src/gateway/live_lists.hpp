#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catalog/cursor.hpp"
#include "catalog/view.hpp"
#include "gateway/live_flights.hpp"
#include "gateway/service.hpp"
#include "gateway/worker.hpp"
#include "server/call.hpp"

namespace proteus::gateway {

// One page of a list that is all in the catalog.
mcp::Outcome cached_page(std::shared_ptr<const catalog::View> view, catalog::Kind kind, const mcp::Request& request,
                         const catalog::Cursors& cursors, std::size_t page_size);

// A list for which upstreams are asked: those that are listed live, each time and as this caller; and those whose part
// of the catalog is too old to use. Parts follow one another in the order of the upstreams. A page ends early where a
// live upstream's own page does; the cursor then holds that upstream's.
class LiveList {
 public:
  LiveList(server::Call& call, Worker& worker, Reach reach, catalog::Kind kind, const catalog::Cursors& cursors,
           std::size_t page_size, const std::function<void(const UpstreamRequest&)>& observer, const Clock& clock,
           const client::Chance& chance);

  Task<mcp::Outcome> run();

 private:
  struct Part;  // one live upstream's page

  Task<> ask(std::shared_ptr<Part> part);
  std::optional<std::string> shared_by(const Part& part) const;
  Task<LivePagePointer> fetch(std::shared_ptr<Part> part);
  static client::Params params_of(const Part& part);
  Task<Result<client::Answer>> request(const Part& part);
  Result<catalog::Cursor> begin() const;
  mcp::Outcome compose(const catalog::Cursor& from);
  // Adds definitions of the catalog up to a place; false where the page is full.
  bool add_cached(catalog::Position& position, std::uint32_t until);
  bool add_live(Part& part);

  server::Call& call_;
  Worker& worker_;
  const Reach reach_;
  const catalog::Kind kind_;
  const catalog::Cursors& cursors_;
  const std::size_t page_size_;
  const std::function<void(const UpstreamRequest&)>& observer_;
  const Clock& clock_;
  const client::Chance& chance_;

  std::shared_ptr<const catalog::View> view_;
  std::vector<std::shared_ptr<Part>> parts_;  // by place
  std::set<std::string, std::less<>> taken_;  // names of live definitions on this page
  mcp::Payload payload_;
  std::size_t count_ = 0;
  std::optional<catalog::Cursor> next_;
  std::vector<std::string> missing_;
  std::optional<Error> last_error_;
};

}  // namespace proteus::gateway
