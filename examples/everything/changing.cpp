#include <atomic>
#include <memory>
#include <string>

#include "everything.hpp"

// Tools that change what the server offers.
namespace everything {

using namespace proteus::server;

void add_changing_tools(Server& server) {
  auto flip = std::make_shared<std::atomic<int>>(0);
  server
      .add_tool({.name = "test_trigger_tool_change", .description = "Adds or removes a tool"},
                [&server, flip](Context&) -> Outcome<ToolResult> {
                  if (flip->fetch_add(1) % 2 != 0) {
                    server.remove_tool("test_dynamic_tool");
                    return ToolResult::text("Removed test_dynamic_tool.");
                  }
                  const auto added = server.add_tool(
                      {.name = "test_dynamic_tool", .description = "Added at runtime"},
                      [](Context&) -> Outcome<ToolResult> { return ToolResult::text("I am new here."); });
                  if (!added) return added.error();
                  return ToolResult::text("Added test_dynamic_tool.");
                })
      .value();
  auto prompts = std::make_shared<std::atomic<int>>(0);
  server
      .add_tool({.name = "test_trigger_prompt_change", .description = "Adds or removes a prompt"},
                [&server, prompts](Context&) -> Outcome<ToolResult> {
                  if (prompts->fetch_add(1) % 2 != 0) {
                    server.remove_prompt("test_dynamic_prompt");
                    return ToolResult::text("Removed test_dynamic_prompt.");
                  }
                  const auto added = server.add_prompt(
                      {.name = "test_dynamic_prompt", .description = "Added at runtime"},
                      [](Context&) -> Outcome<PromptResult> {
                        return PromptResult{.messages = {{.content = Content::text("I am new here.")}}};
                      });
                  if (!added) return added.error();
                  return ToolResult::text("Added test_dynamic_prompt.");
                })
      .value();
  server
      .add_tool({.name = "test_update_resource", .description = "Announces that test://watched-resource has changed"},
                [&server](Context&) -> Outcome<ToolResult> {
                  server.resource_updated("test://watched-resource");
                  return ToolResult::text("test://watched-resource was updated.");
                })
      .value();
}

}  // namespace everything
