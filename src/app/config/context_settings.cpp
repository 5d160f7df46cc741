#include "app/config/context_settings.hpp"

#include "base/settings/names.hpp"
#include "gateway/callers/disclosure_choice.hpp"

namespace proteus::app {
namespace {

using json::field;
using json::text;

constexpr std::size_t kProse = std::size_t{64} << 10U;

json::Codec<std::vector<std::string>> patterns() { return json::list(text({.max_bytes = 256}), "patterns"); }
json::Codec<std::vector<std::string>> names() { return json::list(text({.check = check_name}), "names"); }

Result<> check_name_or_none(std::string_view name) { return name.empty() ? Result<>() : check_name(name); }

Result<> check_tool(std::string_view name) {
  if (name.empty() || name.size() > 256) return std::unexpected(errors::invalid("must be the name of a tool"));
  return {};
}

const json::Binding<ExampleQuery>& example_binding() {
  static const json::Binding<ExampleQuery> binding{
      field("title", &ExampleQuery::title, text(), "What the query shows.").required(),
      field("text", &ExampleQuery::text, text({.max_bytes = kProse}), "The query.").required(),
  };
  return binding;
}

}  // namespace

const json::Binding<ContextSettings>& context_binding() {
  using S = ContextSettings;
  static const json::Binding<S> binding{
      field("parent", &S::parent, text({.check = check_name_or_none}),
            "Context whose keys apply unless this one sets them."),
      field("display_name", &S::display_name, text({.check = check_display_name}), "Name for people, in any script."),
      field("include", &S::include, patterns(),
            "Tools to include, by the name clients see or the upstream's own; `*` matches any characters. `prompt:x*` "
            "matches prompts, `resource:x*` resources."),
      field("exclude", &S::exclude, patterns(), "Tools to exclude from those included."),
      field("sibling_subgraphs", &S::sibling_subgraphs, names(), "Other contexts to mention to agents."),
      field("sibling_tools", &S::sibling_tools, json::optional(patterns()),
            "Tools whose descriptions mention the siblings; `[]` for none, `[\"*\"]` for all.")
          .by_default("one tool of each upstream"),
      field("schemas", &S::schemas, names(), "Schemas whose guidance is appended to descriptions."),
      field("instructions", &S::instructions, text({.max_bytes = kProse}),
            "Instructions for clients that connect, instead of what upstreams say about themselves."),
      field("dataset", &S::dataset, text({.check = check_name_or_none}),
            "Dataset that supplies `{entity_types}` and `{relationship_types}`."),
      field("example_queries", &S::example_queries, json::list(json::table(example_binding()), "tables"),
            "Example queries."),
      field("tool_supplements", &S::tool_supplements, json::map(text({.max_bytes = kProse}), "strings", check_tool),
            "Text to append to the description of a tool, by the name clients see or the upstream's own."),
      field("disclosure", &S::disclosure, gateway::disclosure_choice(),
            "What `tools/list` shows: `all` tools of the context, or `search`: tools to search and call the others "
            "with."),
      field("always", &S::always, patterns(),
            "Tools to list although `disclosure` is `search`, by the same patterns as `include`."),
  };
  return binding;
}

const json::Binding<SchemaSettings>& schema_binding() {
  using S = SchemaSettings;
  static const json::Binding<S> binding{
      field("tools", &S::tools, patterns(), "Tools whose descriptions get the guidance."),
      field("guidance", &S::guidance, text({.max_bytes = kProse}),
            "Text to append; Proteus fills in `{entity_types}` and `{relationship_types}`."),
  };
  return binding;
}

}  // namespace proteus::app
