#include "app/config/context_settings.hpp"

#include "base/names.hpp"

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
      field("title", &ExampleQuery::title, text(), "What it shows.").required(),
      field("text", &ExampleQuery::text, text({.max_bytes = kProse}), "The query.").required(),
  };
  return binding;
}

}  // namespace

const json::Binding<ContextSettings>& context_binding() {
  using S = ContextSettings;
  static const json::Binding<S> binding{
      field("parent", &S::parent, text({.check = check_name_or_none}),
            "The context whose keys hold here unless they are given."),
      field("display_name", &S::display_name, text({.check = check_display_name}),
            "What people call it, in any script."),
      field("include", &S::include, patterns(),
            "Tools that are in, by the name clients see or the upstream's own; `*` stands for any characters. "
            "`prompt:x*` is of prompts, `resource:x*` of resources."),
      field("exclude", &S::exclude, patterns(), "Tools that are not, though included."),
      field("sibling_subgraphs", &S::sibling_subgraphs, names(), "Other contexts that agents are told about."),
      field("sibling_tools", &S::sibling_tools, json::optional(patterns()),
            "Tools whose descriptions mention them; `[]` for none, `[\"*\"]` for all.")
          .by_default("one tool of each upstream"),
      field("schemas", &S::schemas, names(), "Schemas in use, whose guidance is appended."),
      field("instructions", &S::instructions, text({.max_bytes = kProse}),
            "What clients are told at their start, instead of what upstreams say of themselves."),
      field("dataset", &S::dataset, text({.check = check_name_or_none}),
            "The dataset whose types `{entity_types}` and `{relationship_types}` mean."),
      field("example_queries", &S::example_queries, json::list(json::table(example_binding()), "tables"),
            "Queries to begin with."),
      field("tool_supplements", &S::tool_supplements, json::map(text({.max_bytes = kProse}), "strings", check_tool),
            "Texts appended to the description of a tool, by the name clients see or the upstream's own."),
  };
  return binding;
}

const json::Binding<SchemaSettings>& schema_binding() {
  using S = SchemaSettings;
  static const json::Binding<S> binding{
      field("tools", &S::tools, patterns(), "Tools whose descriptions get the guidance."),
      field("guidance", &S::guidance, text({.max_bytes = kProse}),
            "The text that is appended; `{entity_types}` and `{relationship_types}` are filled in."),
  };
  return binding;
}

}  // namespace proteus::app
