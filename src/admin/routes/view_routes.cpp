#include "admin/routes/view_routes.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "gateway/operate/viewpoint.hpp"
#include "gateway/operate/why.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;
using catalog::Kind;

constexpr std::size_t kLongestSearch = 200;
constexpr std::size_t kShownOfDescription = 300;  // bytes; GET /admin/why has all of it

// The principal, the context and the kind that a request names.
struct Looking {
  gateway::Whom whom;
  std::string context;
  Kind kind = Kind::tool;
};

Result<Kind> kind_of(AdminRequest& request) {
  const auto given = request.parameter("kind");
  if (!given) return Kind::tool;
  for (const Kind kind : catalog::kKinds) {
    if (*given == catalog::info(kind).plural) return kind;
  }
  return std::unexpected(errors::invalid("kind must be tools, prompts, resources or resource_templates"));
}

Result<Looking> looking(AdminRequest& request) {
  const auto kind = kind_of(request);
  if (!kind) return std::unexpected(kind.error());
  auto whom = request.text("as");
  if (!whom) return std::unexpected(std::move(whom.error()));
  auto context = request.text("context");
  if (!context) return std::unexpected(std::move(context.error()));
  return Looking{std::move(*whom), context->value_or(""), *kind};
}

object heading(const Looking& look, const gateway::Viewpoint& at) {
  return {{"as", look.whom ? value(*look.whom) : value(nullptr)},
          {"context", at.caller.context},
          {"kind", catalog::info(look.kind).plural}};
}

std::string member_of(const catalog::Definition& definition, std::string_view key) {
  return json::decode_string(json::find_member(definition.text, key)).value_or("");
}

std::string shortened(std::string text) {
  if (text.size() <= kShownOfDescription) return text;
  return std::string(cut_text(text, kShownOfDescription)) + "…";
}

object entry_document(const catalog::Found& found, Kind kind) {
  std::string description = member_of(*found.definition, "description");
  object out{{"name", found.definition->shown},
             {"own_name", found.definition->own},
             {"upstream", found.snapshot->upstream().value()},
             {"description_bytes", description.size()}};
  out["description"] = shortened(std::move(description));
  if (const auto title = member_of(*found.definition, "title"); !title.empty()) out["title"] = title;
  if (kind == Kind::tool) out["read_only"] = found.definition->read_only;
  return out;
}

// Whether each word occurs in the name or in the description, ignoring case.
bool matches(const catalog::Definition& definition, const std::vector<std::string>& words) {
  if (words.empty()) return true;
  const std::string text = lower_case(definition.shown) + "\n" + lower_case(member_of(definition, "description"));
  return std::ranges::all_of(words, [&](const std::string& word) { return text.contains(word); });
}

std::vector<std::string> words_of(std::string_view search) {
  std::vector<std::string> words;
  while (!search.empty()) {
    const std::string_view word = search.substr(0, search.find(' '));
    search.remove_prefix(std::min(search.size(), word.size() + 1));
    if (!word.empty()) words.push_back(lower_case(word));
  }
  return words;
}

struct Window {
  std::uint64_t offset = 0;
  std::size_t limit = 0;
};

Result<std::string> write_view(gateway::Gateway& gateway, const Looking& look, const std::string& search,
                               Window window) {
  const auto at = gateway::look_as(gateway, look.whom, look.context);
  if (!at) return std::unexpected(at.error());
  const auto words = words_of(search);
  object out = heading(look, *at);
  array entries;
  std::uint64_t total = 0;
  for (const auto& part : at->view->parts(look.kind)) {
    const catalog::DefinitionList& list = part.snapshot->list(look.kind);
    for (std::uint32_t index = 0; index < list.size(); ++index) {
      if (std::ranges::binary_search(part.lost, index) || !matches(list[index], words)) continue;
      if (total >= window.offset && entries.size() < window.limit)
        entries.push_back(entry_document({&list[index], part.snapshot}, look.kind));
      ++total;
    }
  }
  array live;
  for (const auto& name : at->listed_live())
    live.emplace_back(name);
  out["version"] = at->view->state().version();
  out["total"] = total;
  out["offset"] = window.offset;
  out["entries"] = std::move(entries);
  out["listed_live"] = std::move(live);
  out["searches"] = at->searches();
  return boost::json::serialize(out);
}

Task<Result<Answer>> view(gateway::Gateway& gateway, AdminRequest& request) {
  auto look = looking(request);
  if (!look) co_return std::unexpected(std::move(look.error()));
  auto search = request.text("q");
  if (!search) co_return std::unexpected(std::move(search.error()));
  if (search->value_or("").size() > kLongestSearch) co_return std::unexpected(errors::too_large("q", kLongestSearch));
  const auto offset = request.number("offset");
  if (!offset) co_return std::unexpected(offset.error());
  const auto limit = request.limit();
  if (!limit) co_return std::unexpected(limit.error());
  // Written in the background: lists of upstreams may be long, and this view of them may not be cached yet.
  auto written = co_await gateway.background_threads().run(
      [&gateway, look = std::move(*look), search = search->value_or(""), window = Window{offset->value_or(0), *limit}] {
        return write_view(gateway, look, search, window);
      });
  if (!written) co_return std::unexpected(std::move(written.error()));
  co_return Answer{.body = std::move(*written)};
}

object finding_document(const gateway::Finding& finding) {
  return {{"upstream", finding.upstream.empty() ? value(nullptr) : value(finding.upstream)},
          {"visibility", gateway::to_string(finding.visibility)},
          {"decided_by", gateway::to_string(finding.decided_by)},
          {"detail", finding.detail}};
}

std::string write_why(const Looking& look, const gateway::Viewpoint& at, const gateway::Why& why,
                      std::string_view name) {
  object out = heading(look, at);
  out["name"] = name;
  for (auto& member : finding_document(why.decisive))
    out[member.key()] = std::move(member.value());
  array findings;
  for (const auto& one : why.findings)
    findings.push_back(finding_document(one));
  out["upstreams"] = std::move(findings);
  if (why.definition.empty()) return boost::json::serialize(out);
  out["shown_name"] = why.shown;
  out["own_name"] = why.own;
  array parts;
  for (const auto& part : why.parts)
    parts.push_back({{"from", part.from}, {"name", part.name}, {"text", part.text}});
  out["parts"] = std::move(parts);
  out["missing_scopes"] = array(why.missing_scopes.begin(), why.missing_scopes.end());
  auto definition = json::parse(why.definition);
  out["definition"] = definition ? std::move(*definition) : value(nullptr);
  return boost::json::serialize(out);
}

Task<Result<Answer>> explain(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry, AdminRequest& request) {
  auto look = looking(request);
  if (!look) co_return std::unexpected(std::move(look.error()));
  auto name = request.text("name");
  if (!name) co_return std::unexpected(std::move(name.error()));
  if (!*name || (*name)->empty() || (*name)->size() > catalog::kLongestUri)
    co_return std::unexpected(errors::invalid("name is missing, or too long"));
  using Written = Result<std::string>;
  auto written = co_await gateway.background_threads().run(
      [&gateway, look = std::move(*look), name = std::move(**name), all = registry.all()]() -> Written {
        const auto at = gateway::look_as(gateway, look.whom, look.context);
        if (!at) return std::unexpected(at.error());
        return write_why(look, *at, gateway::why(*at, *all, gateway.clock(), {look.kind, name}), name);
      });
  if (!written) co_return std::unexpected(std::move(written.error()));
  co_return Answer{.body = std::move(*written)};
}

Task<Result<Answer>> principals(gateway::Gateway& gateway) {
  const auto access = gateway.access();
  array all;
  const auto add = [&](const auto& principals, std::string_view origin) {
    std::string last;
    for (const auto& one : principals) {
      // A token is listed twice while it is rotated.
      if (one->name() == last) continue;
      last = one->name();
      all.push_back({{"name", one->name()}, {"origin", origin}});
    }
  };
  add(access->principals->all(), "file");
  if (access->tokens) add(access->tokens->all(), "runtime");
  co_return Answer{.body = boost::json::serialize(object{{"principals", std::move(all)},
                                                         {"anonymous", access->principals->anonymous() != nullptr}})};
}

}  // namespace

Routes view_routes(gateway::Gateway& gateway, gateway::UpstreamRegistry& registry) {
  const Parameter as{"as",
                     "The name of a principal, or the claims of a token as JSON; empty for callers without a token; "
                     "without it, a caller with full access."};
  const Parameter context{"context", "The context; without it, the plain endpoint."};
  const Parameter kind{"kind", "tools, prompts, resources or resource_templates; without it, tools."};
  return {{.method = "GET",
           .path = "/admin/view",
           .answer = "View",
           .help = "Shows a list as a principal sees it in a context, and where each entry comes from.",
           .parameters = {as,
                          context,
                          kind,
                          {"q", "Only entries with all of these words in their name or description."},
                          {"offset", "How many to leave out first."},
                          {"limit", "Maximum number to return, up to 1000."}},
           .handle = [&gateway](AdminRequest& request) { return view(gateway, request); }},
          {.method = "GET",
           .path = "/admin/why",
           .answer = "Why",
           .help = "Says why a principal sees an entry in a context, or does not.",
           .parameters = {as, context, kind, {"name", "The name or URI, as clients see it."}},
           .handle = [&gateway, &registry](AdminRequest& request) { return explain(gateway, registry, request); }},
          {.method = "GET",
           .path = "/admin/principals",
           .answer = "Principals",
           .help = "Shows the principals that have a name: of the configuration, and of tokens made at runtime.",
           .handle = [&gateway](AdminRequest&) { return principals(gateway); }}};
}

}  // namespace proteus::admin
