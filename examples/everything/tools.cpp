#include "everything.hpp"

namespace everything {

using namespace proteus::server;

namespace {

Outcome<ToolResult> several_contents(Context&) {
  return ToolResult{.content = {Content::text("Multiple content types test:"), Content::image(kPng, "image/png"),
                                Content::embedded_text("test://mixed-content-resource", "application/json",
                                                       R"({"test":"data","value":123})")}};
}

boost::json::object schema_2020_12() {
  return boost::json::object{
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"type", "object"},
      {"$defs",
       {{"address",
         {{"$anchor", "addressDef"},
          {"type", "object"},
          {"properties", {{"street", {{"type", "string"}}}, {"city", {{"type", "string"}}}}}}}}},
      {"properties",
       {{"name", {{"type", "string"}}},
        {"address", {{"$ref", "#/$defs/address"}}},
        {"contactMethod", {{"type", "string"}, {"enum", {"phone", "email"}}}},
        {"phone", {{"type", "string"}}},
        {"email", {{"type", "string"}}}}},
      {"allOf", boost::json::array{boost::json::object{
                    {"anyOf", boost::json::array{boost::json::object{{"required", {"phone"}}},
                                                 boost::json::object{{"required", {"email"}}}}}}}},
      {"if", {{"properties", {{"contactMethod", {{"const", "phone"}}}}}, {"required", {"contactMethod"}}}},
      {"then", {{"required", {"phone"}}}},
      {"else", {{"required", {"email"}}}},
      {"additionalProperties", false}};
}

}  // namespace

void add_plain_tools(Server& server) {
  const auto add = [&](const char* name, const char* description, ToolHandler handler) {
    server.add_tool({.name = name, .description = description}, std::move(handler)).value();
  };
  add("test_simple_text", "Returns a text",
      [](Context&) -> Outcome<ToolResult> { return ToolResult::text("This is a simple text response for testing."); });
  add("test_image_content", "Returns an image",
      [](Context&) -> Outcome<ToolResult> { return ToolResult{.content = {Content::image(kPng, "image/png")}}; });
  add("test_audio_content", "Returns a sound",
      [](Context&) -> Outcome<ToolResult> { return ToolResult{.content = {Content::audio(kWav, "audio/wav")}}; });
  add("test_embedded_resource", "Returns a resource", [](Context&) -> Outcome<ToolResult> {
    return ToolResult{.content = {Content::embedded_text("test://embedded-resource", "text/plain",
                                                         "This is an embedded resource content.")}};
  });
  add("test_multiple_content_types", "Returns a text, an image and a resource", several_contents);
  add("test_error_handling", "Fails", [](Context&) -> Outcome<ToolResult> {
    return ToolResult::error("This tool intentionally returns an error for testing");
  });
  server
      .add_tool({.name = "json_schema_2020_12_tool",
                 .description = "Tool with JSON Schema 2020-12 features",
                 .input_schema = schema_2020_12()},
                [](Context& context) -> Outcome<ToolResult> { return ToolResult::json(context.arguments()); })
      .value();
  server
      .add_tool({.name = "test_mirrored_parameters",
                 .description = "Takes parameters that are mirrored into headers",
                 .input_schema = {{"type", "object"},
                                  {"properties",
                                   {{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
                                    {"count", {{"type", "integer"}, {"x-mcp-header", "Count"}}},
                                    {"query", {{"type", "string"}}}}}}},
                [](Context& context) -> Outcome<ToolResult> { return ToolResult::json(context.arguments()); })
      .value();
}

void add_bench_tools(Server& server, std::size_t tools) {
  const auto echo = [](Context& context) -> Outcome<std::string> {
    const std::string_view text = context.raw_argument("text");
    std::string result;
    result.reserve(text.size() + 64);
    result += R"({"content":[{"type":"text","text":)";
    result += text.empty() ? R"("")" : text;
    result += "}]}";
    return result;
  };
  server.add_raw_tool({.name = "bench_1k", .description = "Answers with its argument"}, echo).value();
  if (tools == 0) {
    server
        .add_raw_tool(
            {.name = "bench_progress", .description = "Reports progress once, then answers with its argument"},
            [echo](Context& context) {
              context.progress(1, 2);
              return echo(context);
            })
        .value();
  }
  for (std::size_t i = 1; i < tools; ++i) {
    const std::string name = "bench_tool_" + std::to_string(10'000 + i);
    server
        .add_raw_tool({.name = name,
                       .description = "A tool that is there to be listed; its description has a usual length.",
                       .input_schema = {{"type", "object"},
                                        {"properties",
                                         {{"query", {{"type", "string"}, {"description", "What to look for"}}},
                                          {"limit", {{"type", "integer"}, {"minimum", 1}, {"maximum", 100}}}}},
                                        {"required", {"query"}}}},
                      echo)
        .value();
  }
}

}  // namespace everything
