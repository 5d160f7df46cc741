#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <boost/json/value.hpp>

#include "base/log/stranger_log.hpp"
#include "base/published.hpp"
#include "gateway/core/gateway.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "gateway/upstreams/local_provider.hpp"
#include "json/schema/schema.hpp"
#include "server/api/outcome.hpp"

namespace proteus::gateway {

// The tools of datasets: `list_datasets`, `connect_dataset`, `workup`, and `workup_<name>` for each connected dataset.
class DatasetTools final : public LocalProvider {
 public:
  static constexpr std::string_view kName = "datasets";

  // Both references must outlive this object. Sets the registry's callbacks, so it must be made before the registry is
  // loaded.
  DatasetTools(DatasetRegistry& registry, Gateway& gateway);

  const catalog::UpstreamName& name() const override { return name_; }
  catalog::SnapshotPointer snapshot() const override { return offered_.get(); }
  Task<mcp::Outcome> handle(server::Call& call, const catalog::Found& found) override;

 private:
  using Arguments = boost::json::object;
  // A workup is serialized on the thread that read it, and has no JSON tree.
  using Answer = std::variant<server::ToolResult, datasets::WorkupDocument>;

  void offer(const DatasetState& state);
  Result<> check_name(const std::string& tool) const;
  Task<Answer> run(server::Call& call, std::string tool);
  Task<server::ToolResult> list();
  Task<server::ToolResult> connect(server::Call& call, Arguments arguments);
  std::string why_not_connected(const server::Call& call, const std::string& dataset, const Error& error);
  Task<Answer> work_up(server::Call& call, std::string dataset, Arguments arguments);

  DatasetRegistry& registry_;
  Gateway& gateway_;
  StrangerLog lines_{"datasets"};
  const catalog::UpstreamName name_;
  Published<catalog::Snapshot> offered_;
  std::uint64_t version_ = 0;  // used on the control thread
  std::shared_ptr<const json::Schema> no_arguments_;
  std::shared_ptr<const json::Schema> name_argument_;
  std::shared_ptr<const json::Schema> workup_arguments_;
  std::shared_ptr<const json::Schema> own_workup_arguments_;
};

}  // namespace proteus::gateway
