#include "everything.hpp"

namespace everything {

using namespace proteus::server;

namespace {

std::string text_argument(Context& context, std::string_view name) {
  const auto* value = context.arguments().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Outcome<PromptResult> ask_context(Context& context) {
  const auto* answer = context.answer("user_context");
  if (answer == nullptr) {
    return Ask().elicit(
        "user_context", "What context should the prompt use?",
        {{"type", "object"}, {"properties", {{"context", {{"type", "string"}}}}}, {"required", {"context"}}});
  }
  const auto* content = answer->if_contains("content");
  const auto* text =
      content != nullptr && content->is_object() ? content->get_object().if_contains("context") : nullptr;
  return PromptResult{
      .messages = {{.content = Content::text("Use this context: " + (text != nullptr && text->is_string()
                                                                         ? std::string(text->get_string())
                                                                         : std::string("none")))}}};
}

}  // namespace

void add_prompts(Server& server) {
  server
      .add_prompt(
          {.name = "test_simple_prompt", .description = "A text"},
          [](Context&) -> Outcome<PromptResult> {
            return PromptResult{.messages = {{.content = Content::text("This is a simple prompt for testing.")}}};
          })
      .value();
  server
      .add_prompt({.name = "test_prompt_with_arguments",
                   .description = "A text with two arguments",
                   .arguments = {{.name = "arg1", .description = "First test argument", .required = true},
                                 {.name = "arg2", .description = "Second test argument", .required = true}}},
                  [](Context& context) -> Outcome<PromptResult> {
                    return PromptResult{
                        .messages = {
                            {.content = Content::text("Prompt with arguments: arg1='" + text_argument(context, "arg1") +
                                                      "', arg2='" + text_argument(context, "arg2") + "'")}}};
                  })
      .value();
  server.add_completion("test_prompt_with_arguments", "arg1", [](const CompletionRequest& request) {
    Completion completion;
    for (const char* word : {"test", "testing", "tests", "tea", "hello"}) {
      if (std::string_view(word).starts_with(request.value)) completion.values.emplace_back(word);
    }
    completion.total = completion.values.size();
    return completion;
  });
  server
      .add_prompt(
          {.name = "test_prompt_with_embedded_resource",
           .description = "A resource and a text",
           .arguments = {{.name = "resourceUri", .description = "URI of the resource", .required = true}}},
          [](Context& context) -> Outcome<PromptResult> {
            return PromptResult{
                .messages = {{.content = Content::embedded_text(text_argument(context, "resourceUri"), "text/plain",
                                                                "Embedded resource content for testing.")},
                             {.content = Content::text("Please process the embedded resource above.")}}};
          })
      .value();
  server
      .add_prompt({.name = "test_prompt_with_image", .description = "An image and a text"},
                  [](Context&) -> Outcome<PromptResult> {
                    return PromptResult{.messages = {{.content = Content::image(kPng, "image/png")},
                                                     {.content = Content::text("Please analyze the image above.")}}};
                  })
      .value();
  server.add_prompt({.name = "test_input_required_result_prompt", .description = "Asks for its context"}, ask_context)
      .value();
}

}  // namespace everything
