#include "providers/tool_settings.hpp"

#include <algorithm>
#include <set>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/settings/names.hpp"
#include "catalog/contexts/entry_patterns.hpp"
#include "catalog/definitions/names.hpp"
#include "providers/oauth_settings.hpp"

namespace proteus::providers {
namespace {

using boost::json::value;
using json::field;
using json::text;

constexpr std::size_t kMostText = std::size_t{16} << 10U;
constexpr std::size_t kMostValue = std::size_t{64} << 10U;

Result<> check_rename(std::string_view name) {
  if (name.empty()) return {};
  return catalog::check_shown_name(catalog::Kind::tool, name);
}

Result<> check_argument_name(std::string_view name) {
  if (!name.empty() && name.size() <= 256) return {};
  return std::unexpected(errors::invalid("must be the name of an argument, of at most 256 bytes"));
}

// Any JSON value, of limited size.
json::Codec<value> any_value() {
  return {.type = "value",
          .read =
              [](const value& given, value& onto, const json::Place& place) {
                if (boost::json::serialize(given).size() > kMostValue)
                  return place.fault(fmt::format("must be at most {} bytes as JSON", kMostValue));
                onto = given;
              },
          .write = [](const value& from, json::Part part) -> std::optional<value> {
            if (part == json::Part::secrets) return std::nullopt;
            return from;
          }};
}

json::Codec<std::map<std::string, value>> arguments() {
  return json::map(any_value(), "values", check_argument_name, {.most = 100});
}

json::Codec<std::optional<std::string>> prose() { return json::optional(text({.max_bytes = kMostText})); }

bool is_of_tools(std::string_view pattern) {
  return catalog::EntryPatterns({std::string(pattern)}).speak_of(catalog::Kind::tool);
}

catalog::ArgumentValues as_texts(const std::map<std::string, value>& values) {
  catalog::ArgumentValues texts;
  for (const auto& [name, each] : values)
    texts.emplace(name, boost::json::serialize(each));
  return texts;
}

// Refuses two tools with the same new name, because callers could not distinguish them.
void check_renames(const std::vector<ToolSettings>& tools, const json::Place& place) {
  std::map<std::string_view, std::string_view> by_name;
  for (std::size_t i = 0; i < tools.size(); ++i) {
    if (tools[i].rename.empty() || tools[i].match.empty()) continue;
    const auto [at, first] = by_name.emplace(tools[i].rename, tools[i].match.front());
    if (!first && at->second != tools[i].match.front()) {
      const json::Place table = place.item(i);
      table.member("rename").fault(fmt::format("{} is renamed to the same", at->second));
    }
  }
}

}  // namespace

bool ToolSettings::shapes() const {
  ToolSettings plain;
  plain.match = match;
  plain.scopes = scopes;
  return !(*this == plain);
}

void check_tool(const ToolSettings& tool, const json::Place& place) {
  if (!tool.rename.empty() && (tool.match.size() != 1 || catalog::has_wildcard(tool.match.front())))
    place.member("rename").fault("is for one tool: match must be its name, without a wildcard");
  for (const auto& [name, each] : tool.defaults) {
    if (tool.fixed.contains(name)) {
      const json::Place defaults = place.member("defaults");
      defaults.member(name).fault("is fixed, and needs no default");
    }
  }
  if (!tool.shapes()) return;
  for (std::size_t i = 0; i < tool.match.size(); ++i) {
    if (is_of_tools(tool.match[i])) continue;
    const json::Place match = place.member("match");
    match.item(i).fault("prompts and resources have no keys but scopes");
  }
}

json::Codec<std::vector<ToolSettings>> tool_tables() {
  auto codec = json::list(json::table<ToolSettings>(tool_binding(), check_tool), "tables");
  codec.read = [read = std::move(codec.read)](const value& given, std::vector<ToolSettings>& onto,
                                              const json::Place& place) {
    const std::size_t before = place.faults().all().size();
    read(given, onto, place);
    if (place.faults().all().size() == before) check_renames(onto, place);
  };
  return codec;
}

const json::Binding<ToolSettings>& tool_binding() {
  using S = ToolSettings;
  using catalog::Confirm;
  static const json::Binding<S> binding{
      field("match", &S::match,
            json::list(text({.max_bytes = 1024, .check = catalog::check_entry_pattern}), "patterns", {.least = 1}),
            "Entries that this table applies to, by the upstream's own names; `*` matches any characters. `prompt:x*` "
            "matches "
            "prompts, `resource:x*` resources and templates by URI; they have no keys but `scopes`.")
          .required(),
      field("rename", &S::rename,
            text({.max_bytes = 128, .check = check_rename, .when_empty = json::WhenEmpty::left_out}),
            "Name to show instead of the upstream's own, behind the prefix. `match` must be one name.")
          .by_default("none"),
      field("title", &S::title, prose(), "Title to show instead of the upstream's own.").by_default("none"),
      field("description", &S::description, prose(), "Description to show instead of the upstream's own.")
          .by_default("none"),
      field("append", &S::append, prose(), "Text to append to the description.").by_default("none"),
      field("hidden", &S::hidden, json::optional(json::boolean()), "Whether callers can neither see nor call it.")
          .by_default("false"),
      field("fixed", &S::fixed, arguments(),
            "Arguments that Proteus sends with each call. Callers do not see them and cannot send them."),
      field("defaults", &S::defaults, arguments(), "Arguments that Proteus sends if the caller does not."),
      field("confirm", &S::confirm,
            json::choice<std::optional<Confirm>>(
                {{"never", Confirm::never}, {"destructive", Confirm::destructive}, {"always", Confirm::always}}),
            "Whether the user must confirm a call. `destructive` asks unless the tool declares `readOnlyHint: true` or "
            "`destructiveHint: false`.")
          .by_default("\"never\""),
      field("scopes", &S::scopes, json::list(text({.max_bytes = 256, .check = check_scope}), "strings", {.most = 100}),
            "Scopes that a caller's access token must have to use them. Callers with a static token need none."),
      field("timeout", &S::timeout, json::optional(json::duration()),
            "Timeout for a call, instead of the upstream's `call_timeout`.")
          .by_default("none"),
  };
  return binding;
}

std::shared_ptr<const catalog::RequiredScopes> required_scopes(const std::vector<ToolSettings>& tools) {
  std::vector<catalog::ScopeRule> rules;
  for (const auto& each : tools) {
    if (!each.scopes.empty()) rules.push_back({each.match, each.scopes});
  }
  return rules.empty() ? nullptr : std::make_shared<const catalog::RequiredScopes>(rules);
}

std::shared_ptr<const catalog::Shape> shape_of(const std::vector<ToolSettings>& tools) {
  if (tools.empty()) return nullptr;
  std::vector<catalog::ToolShape> shapes;
  shapes.reserve(tools.size());
  for (const auto& each : tools) {
    shapes.push_back({.match = each.match,
                      .rename = each.rename,
                      .title = each.title,
                      .description = each.description,
                      .append = each.append,
                      .hidden = each.hidden,
                      .fixed = as_texts(each.fixed),
                      .defaults = as_texts(each.defaults),
                      .confirm = each.confirm,
                      .timeout = each.timeout});
  }
  return std::make_shared<const catalog::Shape>(std::move(shapes));
}

}  // namespace proteus::providers
