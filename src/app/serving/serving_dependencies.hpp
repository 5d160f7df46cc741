#pragma once

#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "admin/http/ops.hpp"
#include "admin/http/page.hpp"
#include "admin/http/router.hpp"
#include "admin/routes/graph_tools.hpp"
#include "app/serving/serving.hpp"
#include "base/task_group.hpp"
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

// Whether the tools of datasets are offered without a directory of mappings.
gateway::Offering offering_of(const Config& config);

// "/mcp" of "/mcp/work", and so on.
bool is_at(std::string_view path, std::string_view root);

// What a gateway that serves is made of, besides the gateway itself.
struct Serving::Dependencies {
  // Everything that the serving has already outlives it.
  Dependencies(Serving& serving, boost::asio::io_context& control, datasets::MappingDirectory mappings,
               std::string_view pepper);

  admin::Routes routes(Serving& serving);

  gateway::ChangeLog changes;
  gateway::Metrics metrics;
  gateway::Figures figures;
  std::optional<gateway::Records> records;  // where they are kept
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
