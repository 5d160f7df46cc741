#pragma once

#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "admin/http/ops.hpp"
#include "admin/http/page.hpp"
#include "admin/http/router.hpp"
#include "admin/routes/graph_tools.hpp"
#include "app/serving/serving.hpp"
#include "base/tasks/task_group.hpp"
#include "gateway/datasets/dataset_registry.hpp"
#include "gateway/datasets/dataset_tools.hpp"
#include "gateway/datasets/dataset_workshop.hpp"
#include "gateway/observe/change_log.hpp"
#include "gateway/observe/figures.hpp"
#include "gateway/observe/metrics.hpp"
#include "gateway/observe/records.hpp"
#include "gateway/operate/pin_decisions.hpp"
#include "gateway/operate/token_registry.hpp"
#include "gateway/operate/try_tokens.hpp"
#include "gateway/operate/upstream_registry.hpp"
#include "gateway/search/search_tools.hpp"
#include "gateway/sessions/tool_sessions.hpp"
#include "gateway/sign_in/sign_in_desk.hpp"

namespace proteus::app {

// Returns whether the tools of datasets are offered even without a directory of mappings.
gateway::Offering offering_of(const Config& config);

// Whether a path is `root` or below it: "/mcp/work" is at "/mcp".
bool is_at(std::string_view path, std::string_view root);

// The components of a serving gateway besides the gateway itself.
struct Serving::Dependencies {
  // Whatever `serving` has already made must outlive this object.
  Dependencies(Serving& serving, boost::asio::io_context& control, datasets::MappingDirectory mappings,
               std::string_view pepper);

  admin::Routes routes(Serving& serving);

  gateway::ChangeLog changes;
  gateway::Metrics metrics;
  gateway::Figures figures;
  std::optional<gateway::Records> records;  // empty if none are kept
  gateway::UpstreamRegistry registry;
  gateway::PinDecisions pins;
  gateway::TokenRegistry tokens;
  gateway::ToolSessions sessions;
  gateway::TryTokens try_tokens;
  gateway::DatasetRegistry datasets;
  gateway::DatasetWorkshop workshop;
  std::shared_ptr<gateway::DatasetTools> dataset_tools;
  gateway::Embeddings embeddings;
  std::shared_ptr<gateway::SearchTools> search_tools;
  gateway::SignInDesk sign_ins;
  admin::Readiness readiness;
  admin::Router router;
  admin::PageSessions page_sessions;
  admin::Page page;
  admin::Ops ops;
  admin::GraphTools graph_tools;
  TaskGroup background;
};

}  // namespace proteus::app
