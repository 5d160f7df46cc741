#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "gateway/core/gateway.hpp"
#include "gateway/search/tool_search.hpp"
#include "gateway/upstreams/local_provider.hpp"
#include "json/schema/schema.hpp"

namespace proteus::gateway {

// Answers `search_tools` and `describe_tool`, and suggests names to callers who named a tool that does not exist. Its
// snapshot is empty: views of callers who search begin with the definitions from search_definitions.hpp.
class SearchTools final : public LocalProvider {
 public:
  // `gateway` must outlive this object. `more` returns text by which a provider can be found in addition to its own;
  // called on any thread.
  explicit SearchTools(Gateway& gateway, search::Indexes::More more = {});

  const catalog::UpstreamName& name() const override;
  catalog::SnapshotPointer snapshot() const override { return nullptr; }
  Task<mcp::Outcome> handle(server::Call& call, const catalog::Found& found) override;
  void drop_unused_since(Clock::Monotonic time) override { search_.drop_unused_since(time); }

  ToolSearch& search() { return search_; }

 private:
  using Arguments = boost::json::object;

  Task<mcp::Reply> search(server::Call& call, Arguments arguments);
  Task<mcp::Reply> describe(server::Call& call, Arguments arguments);
  Task<mcp::Reply> name_nearest(server::Call& call);

  Gateway& gateway_;
  ToolSearch search_;
  std::shared_ptr<const json::Schema> search_arguments_;
  std::shared_ptr<const json::Schema> describe_arguments_;
};

}  // namespace proteus::gateway
