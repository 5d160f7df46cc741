#include "admin/routes/context_routes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/log/log.hpp"
#include "base/tasks/task_group.hpp"
#include "base/tasks/waiting.hpp"
#include "catalog/contexts/contexts.hpp"
#include "gateway/callers/context_review.hpp"
#include "gateway/request/usable_tools.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

namespace asio = boost::asio;
using boost::json::array;
using boost::json::object;
using catalog::Kind;

array strings(const std::vector<std::string>& all) { return array(all.begin(), all.end()); }

object context_document(const catalog::Context& context, const catalog::CatalogState& state,
                        const gateway::UpstreamTable& upstreams) {
  const catalog::ContextManifest& manifest = context.manifest();
  array siblings;
  for (const auto& sibling : context.siblings())
    siblings.emplace_back(sibling.name);
  object supplements;
  for (const auto& [tool, text] : manifest.tool_supplements)
    supplements[tool] = text;
  object out{{"name", context.name()},
             {"display_name", context.display_name()},
             {"endpoint", catalog::context_path(context.name())},
             {"parent", manifest.parent.empty() ? boost::json::value(nullptr) : boost::json::value(manifest.parent)},
             {"include", strings(manifest.include)},
             {"exclude", strings(manifest.exclude)},
             {"siblings", std::move(siblings)},
             {"schemas", strings(manifest.schemas)},
             {"dataset", manifest.dataset},
             {"instructions", context.instructions()},
             {"tool_supplements", std::move(supplements)}};
  const bool searches = manifest.disclosure == catalog::Disclosure::search;
  out["disclosure"] = searches ? "search" : "all";
  if (searches) out["always"] = strings(manifest.always);
  if (manifest.sibling_tools) out["sibling_tools"] = strings(*manifest.sibling_tools);
  out["warnings"] = strings(gateway::context_warnings(context, state, upstreams));
  return out;
}

// Reads what an upstream that is listed live offers to the gateway itself.
Task<Result<catalog::DefinitionList::Pointer>> read_live(gateway::ServedUpstream served) {
  auto read = co_await served->control().list(catalog::info(Kind::tool).list_method);
  if (!read) co_return std::unexpected(std::move(read.error()));
  const auto listing = std::make_shared<const client::Listing>(std::move(*read));
  std::vector<std::string_view> texts;
  texts.reserve(listing->entries.size());
  for (const auto& entry : listing->entries)
    texts.push_back(entry.definition);
  co_return co_await served->read_list(Kind::tool, listing, std::move(texts));
}

// Waits as long as a search does.
Task<Result<catalog::DefinitionList::Pointer>> read_in_time(gateway::ServedUpstream served) {
  Deadline deadline(co_await asio::this_coro::executor, gateway::UsableToolsReader::kMost, {});
  co_return co_await before(deadline, read_live(std::move(served)), "the list");
}

std::string description_of(const catalog::Definition& tool) {
  return json::decode_string(json::find_member(tool.text, "description")).value_or("");
}

enum class Explain : std::uint8_t { no, yes };

// The tools of a gateway as seen in a context, or without one.
class Survey {
 public:
  Survey(const gateway::Gateway& gateway, std::shared_ptr<const catalog::ContextLens> lens, Explain explain)
      : table_(gateway.upstreams()),
        lens_(std::move(lens)),
        view_(gateway.catalog().current(), {.front = {}, .lens = lens_}),
        explain_(explain) {}

  // Reads the lists of the upstreams. Those that are listed live are asked together.
  Task<> gather() {
    TaskGroup asking(co_await asio::this_coro::executor);
    const auto& ranks = view_.state().ranks();
    for (std::uint32_t rank = 0; rank < view_.state().places(); ++rank) {
      const catalog::Snapshot* const snapshot = view_.state().at(rank);
      const auto* served = table_->find(ranks.names[rank].value());
      if (served != nullptr && (*served)->is_direct()) {
        listed_.push_back({std::unexpected(errors::cancelled("the list")), (*served)->settings().name, false});
        asking.spawn("live list for an operator", ask(*served, listed_.size() - 1));
      } else if (snapshot != nullptr) {
        listed_.push_back({snapshot->lists()[Kind::tool], snapshot->upstream().value(), true});
      }
    }
    co_await asking.join();
  }

  // To be called once, after `gather`.
  object document() {
    array missing;
    for (const auto& [base, upstream, in_catalog] : listed_) {
      if (base) {
        add(*base, upstream, in_catalog);
      } else {
        missing.push_back(object{{"upstream", upstream}, {"error", base.error().message()}});
      }
    }
    object out;
    if (lens_) out["context"] = lens_->context().name();
    out["tools"] = std::move(tools_);
    if (!missing.empty()) out["missing"] = std::move(missing);
    if (lens_) out["warnings"] = strings(gateway::context_warnings(lens_->context(), view_.state(), *table_));
    return out;
  }

 private:
  struct Listed {
    Result<catalog::DefinitionList::Pointer> base;
    std::string upstream;
    bool in_catalog;
  };

  Task<> ask(gateway::ServedUpstream live, std::size_t place) {
    auto list = co_await asio::co_spawn(live->io(), read_in_time(live), asio::use_awaitable);
    listed_[place].base = std::move(list);
  }

  void add(const catalog::DefinitionList::Pointer& base, const std::string& upstream, bool in_catalog) {
    const auto seen = lens_ ? lens_->through(base) : base;
    const auto* const served = table_->find(upstream);
    std::optional<catalog::ToolParts> parts;
    if (lens_) parts.emplace(*lens_, *base);
    for (const catalog::Definition& tool : seen->definitions()) {
      const auto winner = view_.find(Kind::tool, tool.shown);
      if (in_catalog && (!winner || winner.snapshot->upstream().value() != upstream)) continue;
      object one{
          {"name", tool.shown}, {"upstream", upstream}, {"own_name", tool.own}, {"description", description_of(tool)}};
      if (served != nullptr && !(*served)->settings().display_name.empty())
        one["upstream_display_name"] = (*served)->settings().display_name;
      if (explain_ == Explain::yes) one["parts"] = explained(*base->find(tool.shown), parts);
      tools_.push_back(std::move(one));
    }
  }

  static array explained(const catalog::Definition& base, const std::optional<catalog::ToolParts>& parts) {
    array out{object{{"from", "base"}, {"text", description_of(base)}}};
    if (!parts) return out;
    for (const auto& part : parts->of(base)) {
      object one{{"from", catalog::to_string(part.origin)}};
      if (!part.name.empty()) one["name"] = part.name;
      one["text"] = part.text;
      out.push_back(std::move(one));
    }
    return out;
  }

  std::shared_ptr<const gateway::UpstreamTable> table_;
  std::shared_ptr<const catalog::ContextLens> lens_;
  catalog::View view_;
  Explain explain_;
  std::vector<Listed> listed_;  // in the order in which upstreams win names
  array tools_;
};

Task<Result<Answer>> list(gateway::Gateway& gateway) {
  co_return Answer{.body = co_await gateway.background_threads().run([&gateway] {
    const auto state = gateway.catalog().current();
    const auto table = gateway.upstreams();
    const auto contexts = gateway.access()->contexts;
    array all;
    if (contexts) {
      for (const auto& [name, context] : contexts->all())
        all.push_back(context_document(*context, *state, *table));
    }
    return boost::json::serialize(object{{"contexts", std::move(all)}});
  })};
}

Explain explain_of(const AdminRequest& request) {
  const auto given = request.parameter("explain");
  return given && *given != "false" && *given != "0" ? Explain::yes : Explain::no;
}

// Writes the document in the background, because upstreams determine its size. The work owns the survey: the request
// may be cut off while it runs.
Task<Result<Answer>> look(gateway::Gateway& gateway, std::shared_ptr<const catalog::ContextLens> lens,
                          Explain explain) {
  const auto survey = std::make_shared<Survey>(gateway, std::move(lens), explain);
  co_await survey->gather();
  co_return Answer{.body = co_await gateway.background_threads().run(
                       [survey] { return boost::json::serialize(survey->document()); })};
}

Task<Result<Answer>> tools(gateway::Gateway& gateway, AdminRequest& request) {
  return look(gateway, nullptr, explain_of(request));
}

Task<Result<Answer>> tools_in(gateway::Gateway& gateway, AdminRequest& request) {
  const std::string name = request.variable("name");
  const auto contexts = gateway.access()->contexts;
  auto lens = contexts ? contexts->lens(name, [](std::string_view) { return true; }) : nullptr;
  if (!lens) {
    co_return std::unexpected(errors::not_found(fmt::format("there is no context {}", log::printable(name, 100))));
  }
  co_return co_await look(gateway, std::move(lens), explain_of(request));
}

}  // namespace

Routes context_routes(gateway::Gateway& gateway) {
  const Parameter explain{"explain", "Also show where each part of a description came from."};
  return {
      {.method = "GET",
       .path = "/admin/contexts",
       .answer = "{ contexts: Context[] }",
       .help = "Shows all contexts with their settings, and warnings.",
       .handle = [&gateway](AdminRequest&) { return list(gateway); }},
      {.method = "GET",
       .path = "/admin/contexts/{name}/tools",
       .help = "Shows the tools in a context, as a caller with full access sees them.",
       .parameters = {explain},
       .handle = [&gateway](AdminRequest& request) { return tools_in(gateway, request); }},
      {.method = "GET",
       .path = "/admin/catalog/tools",
       .help = "Shows the tools without a context, as a caller with full access sees them.",
       .parameters = {explain},
       .handle = [&gateway](AdminRequest& request) { return tools(gateway, request); }},
  };
}

}  // namespace proteus::admin
