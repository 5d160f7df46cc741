#include "client/message/handlers.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/errors.hpp"

namespace proteus::client {
namespace {

enum class Mode { form, url, unknown };

Mode elicitation_mode(std::string_view params) {
  std::vector<std::unique_ptr<std::string>> storage;
  const auto members = json::members_of(params, storage);
  if (!members) return params.empty() ? Mode::form : Mode::unknown;
  if (!members->has("mode")) return Mode::form;
  const auto mode = json::decode_string(members->value("mode"));
  if (mode && *mode == "form") return Mode::form;
  return mode && *mode == "url" ? Mode::url : Mode::unknown;
}

Result<const Handler*> find_handler(const Handlers& handlers, const Question& question, Mode mode) {
  const Handler* handler = nullptr;
  switch (question.method) {
    case mcp::Method::elicit:
      handler = mode == Mode::form ? &handlers.elicit_form : &handlers.elicit_url;
      if (mode == Mode::unknown || ((handlers.elicit_form || handlers.elicit_url) && !*handler))
        return std::unexpected(mcp::errors::invalid_params("this mode of elicitation is not supported"));
      break;
    case mcp::Method::create_message: handler = &handlers.sample; break;
    case mcp::Method::list_roots: handler = &handlers.list_roots; break;
    default: break;
  }
  if (handler == nullptr || !*handler)
    return std::unexpected(mcp::errors::method_not_found(mcp::to_string(question.method)));
  return handler;
}

}  // namespace

mcp::ClientCapabilities Handlers::capabilities() const {
  return {.elicitation_form = static_cast<bool>(elicit_form),
          .elicitation_url = static_cast<bool>(elicit_url),
          .sampling = static_cast<bool>(sample),
          .sampling_tools = sample && sample_with_tools,
          .roots = static_cast<bool>(list_roots),
          .roots_list_changed = list_roots && roots_list_changed};
}

Task<Result<std::string>> ask(const Handlers& handlers, Question question) {
  const Mode mode = question.method == mcp::Method::elicit ? elicitation_mode(question.params) : Mode::unknown;
  const auto handler = find_handler(handlers, question, mode);
  if (!handler) co_return std::unexpected(handler.error());
  const bool complete = mode == Mode::form && handlers.apply_defaults;
  std::string params = complete ? question.params : std::string();
  auto result = co_await (**handler)(std::move(question));
  if (!result) co_return std::unexpected(std::move(result.error()));
  if (!json::is_object(*result)) co_return std::unexpected(errors::internal("a handler's answer is not an object"));
  if (complete) co_return with_defaults(std::move(*result), params);
  co_return std::move(*result);
}

std::string with_defaults(std::string result, std::string_view params) {
  auto answer = json::parse(result);
  const auto question = json::parse(params);
  if (!answer || !answer->is_object() || !question || !question->is_object()) return result;
  auto& members = answer->get_object();
  const auto* action = members.if_contains("action");
  if (action == nullptr || *action != "accept") return result;
  const auto* schema = question->get_object().if_contains("requestedSchema");
  const auto* properties =
      schema != nullptr && schema->is_object() ? schema->get_object().if_contains("properties") : nullptr;
  if (properties == nullptr || !properties->is_object()) return result;

  auto& content = members["content"];
  if (content.is_null()) content = boost::json::object();
  if (!content.is_object()) return result;
  for (const auto& [name, property] : properties->get_object()) {
    if (!property.is_object() || content.get_object().contains(name)) continue;
    if (const auto* value = property.get_object().if_contains("default")) content.get_object().emplace(name, *value);
  }
  return boost::json::serialize(*answer);
}

}  // namespace proteus::client
