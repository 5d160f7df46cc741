#include "app/serving/serving_dependencies.hpp"

#include "admin/routes/audit_routes.hpp"
#include "admin/routes/change_routes.hpp"
#include "admin/routes/connection_routes.hpp"
#include "admin/routes/context_routes.hpp"
#include "admin/routes/dataset_routes.hpp"
#include "admin/routes/figure_routes.hpp"
#include "admin/routes/open_session_routes.hpp"
#include "admin/routes/preview_routes.hpp"
#include "admin/routes/principal_routes.hpp"
#include "admin/routes/process_routes.hpp"
#include "admin/routes/proposal_routes.hpp"
#include "admin/routes/record_routes.hpp"
#include "admin/routes/search_routes.hpp"
#include "admin/routes/session_routes.hpp"
#include "admin/routes/token_routes.hpp"
#include "admin/routes/try_routes.hpp"
#include "admin/routes/upstream_routes.hpp"
#include "admin/routes/view_routes.hpp"
#include "app/serving/serving_cluster.hpp"
#include "app/serving/serving_live.hpp"

namespace proteus::app {

namespace asio = boost::asio;

namespace {

// Finds an operator by the token of an identity provider; [[auth.rules]] decide the role.
Task<std::expected<admin::Router::Operator, server::Refusal>> find_operator(gateway::Identities& identities,
                                                                            const net::Request& request) {
  auto found = co_await identities.find_operator(request);
  if (!found) co_return std::unexpected(std::move(found.error()));
  const bool may_change = found->role == gateway::AdminRole::admin;
  co_return admin::Router::Operator{std::move(found->name), may_change ? admin::Role::admin : admin::Role::viewer,
                                    found->until, std::move(found->issuer), found->digest};
}

admin::Router::Doorkeeper operators_of(gateway::Identities& identities) {
  return {.is_there = [&identities] { return identities.are_used(); },
          .find = [&identities](const net::Request& request) { return find_operator(identities, request); }};
}

// Lets the same operators sign in on the page.
admin::Page::Providers providers_of(gateway::Identities& identities, gateway::ConnectSite& site) {
  return {.issuers = [&identities] { return identities.sign_in_issuers(); },
          .send = [&site](const net::Request& request, std::string issuer,
                          std::string path) { return site.send_operator(request, std::move(issuer), std::move(path)); },
          .take = [&site](const net::Request& request,
                          std::string_view code) -> std::optional<admin::Page::Providers::Arrived> {
            auto arrived = site.take_operator(request, code);
            if (!arrived) return std::nullopt;
            const bool may_change = arrived->who.role == gateway::AdminRole::admin;
            return admin::Page::Providers::Arrived{
                .holder = {.name = std::move(arrived->who.name),
                           .digest = arrived->who.digest,
                           .role = may_change ? admin::Role::admin : admin::Role::viewer,
                           .is_vouched_for = true,
                           .issuer = std::move(arrived->who.issuer)},
                .path = std::move(arrived->path)};
          }};
}

// Makes the tools of datasets searchable by the entity types of the datasets.
search::Indexes::More entity_types_of(const gateway::DatasetRegistry& datasets) {
  return [&datasets](const catalog::Snapshot& snapshot) {
    std::string types;
    if (snapshot.upstream().value() != gateway::DatasetTools::kName) return types;
    for (const auto& file : datasets.state()->content.files) {
      if (file.status != datasets::DatasetStatus::ratified) continue;
      for (const auto& type : file.plan->mapping().entity_types())
        types += type + " ";
    }
    return types;
  };
}

}  // namespace

gateway::Offering offering_of(const Config& config) {
  return config.datasets.named ? gateway::Offering::always : gateway::Offering::with_directory;
}

Serving::Dependencies::Dependencies(Serving& serving, asio::io_context& control, datasets::MappingDirectory mappings,
                                    std::string_view pepper)
    : changes(control, *serving.store_, serving.gateway_->background_threads()),
      metrics(*serving.gateway_),
      figures(metrics),
      records(serving.config_.telemetry.records == RecordsKept::memory
                  ? std::make_optional<gateway::Records>(serving.clock_)
                  : std::nullopt),
      registry({control, *serving.gateway_, *serving.store_, serving.clock_, serving.environment_, *serving.egress_,
                serving.cluster_ != nullptr}),
      pins(*serving.gateway_, *serving.store_),
      tokens({control, *serving.gateway_, *serving.store_, serving.clock_, serving.cluster_ != nullptr}),
      sessions({*serving.workers_, *serving.gateway_, *serving.store_, serving.clock_, *serving.egress_,
                serving.cluster_ != nullptr},
               serving.session_options()),
      try_tokens(*serving.gateway_, *serving.store_, SealingKey::derive(pepper, "tokens to try with")),
      datasets({control, *serving.store_, serving.clock_, serving.environment_, serving.cluster_ != nullptr},
               std::move(mappings), offering_of(serving.config_)),
      workshop({datasets, *serving.store_, serving.clock_, serving.environment_}),
      dataset_tools(std::make_shared<gateway::DatasetTools>(datasets, *serving.gateway_)),
      embeddings(serving.embedding_dependencies()),
      search_tools(std::make_shared<gateway::SearchTools>(*serving.gateway_, entity_types_of(datasets))),
      sign_ins({*serving.gateway_, serving.gateway_->vault(), *serving.store_, serving.clock_,
                [this](std::string_view secret) { return router.name_of_key(secret); },
                serving.cluster_ ? serving.cluster_->self : ProcessKey()},
               SealingKey::derive(pepper, "sign-in")),
      router(routes(serving), serving.admin_keys(), serving.gateway_->refusals()),
      page_sessions(admin::PageSessions::derive(pepper, serving.public_origin(), serving.clock_)),
      page(admin::page_files(), page_sessions, router.auth(), serving.gateway_->refusals(), serving.clock_,
           PROTEUS_VERSION),
      ops({readiness, [this] { return metrics.render(); },
           [this](const net::Request& request) { return router.knows(request); },
           [&serving] { return serving.describe_store(); }}),
      graph_tools(*serving.gateway_, serving.host_rules()),
      background(control.get_executor()) {
  router.set_page_sessions(page_sessions);
  if (records) metrics.set_records(*records);
  if (serving.cluster_) {
    router.set_settle([&serving] { return serving.settle(); });
    metrics.set_cluster([&cluster = *serving.cluster_]() -> gateway::Metrics::ClusterFigures {
      return {.behind_seconds = std::chrono::duration<double>(cluster.member.behind()).count(),
              .watched = cluster.leases.size()};
    });
  }
  gateway::Identities& identities = serving.gateway_->identities();
  router.set_vouching([&identities](std::string_view issuer) { return identities.operator_digest(issuer); });
  page.set_providers(providers_of(identities, sign_ins.site()));
  if (serving.live_) {
    metrics.set_redis([&client = serving.live_->client]() -> gateway::Metrics::RedisFigures {
      const auto figures = client.figures();
      return {.connected = figures.connected,
              .commands = figures.commands,
              .failed = figures.failed,
              .dropped = figures.dropped,
              .waiting = figures.queued};
    });
  }
  router.set_doorkeeper(operators_of(serving.gateway_->identities()));
  serving.gateway_->set_on_expiry([this](Clock::Wall now) {
    router.end_expired(now);
    try_tokens.end_expired(now);
    figures.look(now);
  });
  figures.look(serving.clock_.wall());
  metrics.set_tool_sessions([this] { return sessions.size(); });
  search_tools->search().set_embeddings(embeddings);
  metrics.set_embedding_failures([this] { return embeddings.status().failures; });
  metrics.set_stalls([&workers = *serving.workers_] { return workers.stalls(); });
  sessions.changes().set_observer([this] { metrics.told_of(catalog::Kind::tool); });
}

admin::Routes Serving::Dependencies::routes(Serving& serving) {
  gateway::Gateway& gateway = *serving.gateway_;
  store::Store& store = *serving.store_;
  admin::Routes all = admin::upstream_routes(gateway, registry, store);
  for (auto& more : {admin::session_routes(gateway, sessions), admin::token_routes(gateway, tokens),
                     admin::dataset_routes(datasets, workshop), admin::proposal_routes(pins),
                     admin::context_routes(gateway), admin::change_routes(changes), admin::audit_routes(store),
                     admin::principal_routes(gateway), admin::search_routes(gateway, *search_tools),
                     admin::connection_routes(gateway.vault(), sign_ins, gateway.background_threads()),
                     admin::view_routes(gateway, registry), admin::try_routes(try_tokens),
                     admin::open_session_routes(gateway, sessions, store),
                     admin::record_routes(records ? &*records : nullptr, gateway.background_threads()),
                     admin::figure_routes(figures), admin::preview_routes(gateway, registry, tokens, pins)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  if (serving.cluster_) {
    for (auto& more : admin::process_routes(store, serving.cluster_->member))
      all.push_back(std::move(more));
  }
  return all;
}

}  // namespace proteus::app
