#include <boost/json/serialize.hpp>

#include "everything.hpp"

// Tools that need input from the user, the client's model, or the client.
namespace everything {

using namespace proteus::server;

namespace {

using boost::json::array;
using boost::json::object;

object form(object properties, array required = {}) {
  object schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

object question(std::string_view text, int max_tokens) {
  return {{"messages", array{object{{"role", "user"}, {"content", {{"type", "text"}, {"text", text}}}}}},
          {"maxTokens", max_tokens}};
}

std::string sampled_text(const object& answer) {
  const auto* content = answer.if_contains("content");
  if (content == nullptr || !content->is_object()) return "(no text)";
  const auto* text = content->get_object().if_contains("text");
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : "(no text)";
}

// Returns a field of an accepted form; empty otherwise.
std::string field(const object& answer, std::string_view name) {
  const auto* content = answer.if_contains("content");
  if (content == nullptr || !content->is_object()) return {};
  const auto* value = content->get_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string outcome_of(const object& answer) {
  const auto* action = answer.if_contains("action");
  const auto* content = answer.if_contains("content");
  return "action=" + (action != nullptr && action->is_string() ? std::string(action->get_string()) : "none") +
         ", content=" + (content != nullptr ? boost::json::serialize(*content) : "{}");
}

std::string argument(Context& context, std::string_view name) {
  return std::string(context.arguments().at(name).as_string());
}

Outcome<ToolResult> sampling(Context& context) {
  const auto* answer = context.answer("completion");
  if (answer == nullptr) return Ask().sample("completion", question(argument(context, "prompt"), 100));
  return ToolResult::text("LLM response: " + sampled_text(*answer));
}

Outcome<ToolResult> elicitation(Context& context) {
  const auto* answer = context.answer("user");
  if (answer == nullptr) {
    return Ask().elicit("user", argument(context, "message"),
                        form({{"username", {{"type", "string"}, {"description", "User's response"}}},
                              {"email", {{"type", "string"}, {"description", "User's email address"}}}},
                             {"username", "email"}));
  }
  return ToolResult::text("User response: " + outcome_of(*answer));
}

Outcome<ToolResult> defaults(Context& context) {
  const auto* answer = context.answer("defaults");
  if (answer == nullptr) {
    return Ask().elicit(
        "defaults", "Please review the defaults",
        form({{"name", {{"type", "string"}, {"default", "John Doe"}}},
              {"age", {{"type", "integer"}, {"default", 30}}},
              {"score", {{"type", "number"}, {"default", 95.5}}},
              {"status", {{"type", "string"}, {"enum", {"active", "inactive", "pending"}}, {"default", "active"}}},
              {"verified", {{"type", "boolean"}, {"default", true}}}}));
  }
  return ToolResult::text("Elicitation completed: " + outcome_of(*answer));
}

array titled(std::string_view kind) {
  array options;
  int number = 0;
  for (const char* word : {"First", "Second", "Third"}) {
    options.push_back(
        object{{"const", "value" + std::to_string(++number)}, {"title", word + (" " + std::string(kind))}});
  }
  return options;
}

Outcome<ToolResult> enums(Context& context) {
  const auto* answer = context.answer("choices");
  if (answer == nullptr) {
    return Ask().elicit(
        "choices", "Please choose",
        form({{"untitledSingle", {{"type", "string"}, {"enum", {"option1", "option2", "option3"}}}},
              {"titledSingle", {{"type", "string"}, {"oneOf", titled("Option")}}},
              {"legacyEnum",
               {{"type", "string"},
                {"enum", {"opt1", "opt2", "opt3"}},
                {"enumNames", {"Option One", "Option Two", "Option Three"}}}},
              {"untitledMulti",
               {{"type", "array"}, {"items", {{"type", "string"}, {"enum", {"option1", "option2", "option3"}}}}}},
              {"titledMulti", {{"type", "array"}, {"items", {{"anyOf", titled("Choice")}}}}}}));
  }
  return ToolResult::text("Elicitation completed: " + outcome_of(*answer));
}

Outcome<ToolResult> missing_capability(Context& context) {
  if (context.answer("needed") == nullptr) return Ask().sample("needed", question("Anything", 10));
  return ToolResult::text("The client can be asked.");
}

Outcome<ToolResult> streaming_elicitation(Context& context) {
  context.progress(0, 1);
  const auto* answer = context.answer("confirm");
  if (answer == nullptr) return Ask().elicit("confirm", "Go on?", form({{"ok", {{"type", "boolean"}}}}));
  return ToolResult::text("Elicitation completed: " + outcome_of(*answer));
}

Outcome<ToolResult> ask_name(Context& context) {
  const auto* answer = context.answer("user_name");
  if (answer == nullptr) {
    return Ask().elicit("user_name", "What is your name?", form({{"name", {{"type", "string"}}}}, {"name"}));
  }
  return ToolResult::text("Hello, " + field(*answer, "name") + "!");
}

Outcome<ToolResult> ask_capital(Context& context) {
  const auto* answer = context.answer("capital_question");
  if (answer == nullptr) return Ask().sample("capital_question", question("What is the capital of France?", 100));
  return ToolResult::text(sampled_text(*answer));
}

Outcome<ToolResult> ask_roots(Context& context) {
  const auto* answer = context.answer("client_roots");
  if (answer == nullptr) return Ask().roots("client_roots");
  return ToolResult::text("Roots: " + boost::json::serialize(*answer));
}

// The server library rejects a state that was tampered with before it calls a handler.
Outcome<ToolResult> remember_state(Context& context) {
  if (context.answer("confirm") == nullptr) {
    return Ask().elicit("confirm", "Please confirm", form({{"ok", {{"type", "boolean"}}}}, {"ok"})).remember("kept");
  }
  if (context.state() != "kept") return ToolResult::error("The state was lost.");
  return ToolResult::text("state-ok: the state came back unchanged.");
}

Outcome<ToolResult> several_inputs(Context& context) {
  const auto* name = context.answer("user_name");
  const auto* greeting = context.answer("greeting");
  const auto* roots = context.answer("client_roots");
  if (name == nullptr || greeting == nullptr || roots == nullptr) {
    Ask ask;
    if (name == nullptr)
      ask.elicit("user_name", "What is your name?", form({{"name", {{"type", "string"}}}}, {"name"}));
    if (greeting == nullptr) ask.sample("greeting", question("Generate a greeting", 50));
    if (roots == nullptr) ask.roots("client_roots");
    return ask;
  }
  return ToolResult::text(sampled_text(*greeting) + ", " + field(*name, "name") +
                          "! Roots: " + boost::json::serialize(*roots));
}

Outcome<ToolResult> several_rounds(Context& context) {
  const auto* first = context.answer("step1");
  if (first == nullptr) {
    return Ask().elicit("step1", "Step 1: What is your name?", form({{"name", {{"type", "string"}}}}, {"name"}));
  }
  const auto* second = context.answer("step2");
  if (second == nullptr) {
    return Ask().elicit("step2", "Step 2: What is your favorite color?",
                        form({{"color", {{"type", "string"}}}}, {"color"}));
  }
  return ToolResult::text(field(*first, "name") + " likes " + field(*second, "color") + ".");
}

Outcome<ToolResult> within_capabilities(Context& context) {
  const auto client = context.client();
  Ask ask;
  if (client.elicitation && context.answer("user_name") == nullptr) {
    ask.elicit("user_name", "What is your name?", form({{"name", {{"type", "string"}}}}, {"name"}));
  }
  if (client.sampling && context.answer("greeting") == nullptr) ask.sample("greeting", question("Say hello", 50));
  if (client.roots && context.answer("client_roots") == nullptr) ask.roots("client_roots");
  if (!ask.questions().empty()) return ask;
  return ToolResult::text("Asked for everything the client can be asked for.");
}

}  // namespace

void add_asking_tools(Server& server) {
  const auto add = [&](const char* name, const char* description, ToolHandler handler,
                       object input_schema = {{"type", "object"}}) {
    server
        .add_tool({.name = name, .description = description, .input_schema = std::move(input_schema)},
                  std::move(handler))
        .value();
  };
  add("test_sampling", "Asks the client's model", sampling, form({{"prompt", {{"type", "string"}}}}, {"prompt"}));
  add("test_elicitation", "Asks the user", elicitation, form({{"message", {{"type", "string"}}}}, {"message"}));
  add("test_elicitation_sep1034_defaults", "Asks with defaults of every type", defaults);
  add("test_elicitation_sep1330_enums", "Asks with every form of choice", enums);
  add("test_missing_capability", "Needs a client that can sample", missing_capability);
  add("test_streaming_elicitation", "Reports progress, then asks", streaming_elicitation);
  add("test_input_required_result_elicitation", "Asks for a name", ask_name);
  add("test_input_required_result_sampling", "Asks the model for a capital", ask_capital);
  add("test_input_required_result_list_roots", "Asks for the roots", ask_roots);
  add("test_input_required_result_request_state", "Remembers something while it asks", remember_state);
  add("test_input_required_result_tampered_state", "Remembers something while it asks", remember_state);
  add("test_input_required_result_multiple_inputs", "Asks for three things at once", several_inputs);
  add("test_input_required_result_multi_round", "Asks twice", several_rounds);
  add("test_input_required_result_capabilities", "Asks for what the client can give", within_capabilities);
}

}  // namespace everything
