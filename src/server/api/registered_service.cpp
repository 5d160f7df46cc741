#include "server/api/registered_service.hpp"

#include <algorithm>
#include <iterator>

#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "json/text.hpp"
#include "mcp/errors.hpp"
#include "server/api/outcome.hpp"

namespace proteus::server {
namespace {

constexpr std::size_t kMaxCompletions = 100;  // the protocol's own limit
constexpr std::size_t kLongestUri = 8192;     // of a subscription, which is kept

std::string implementation(const ServerInfo& info) {
  boost::json::object object{{"name", info.name}, {"version", info.version}};
  if (!info.title.empty()) object["title"] = info.title;
  if (!info.description.empty()) object["description"] = info.description;
  if (!info.website.empty()) object["websiteUrl"] = info.website;
  return boost::json::serialize(object);
}

template <class T, class ToReply>
mcp::Outcome finish(Outcome<T> outcome, ToReply&& to_wire) {
  auto& value = outcome.value();
  if (auto* error = std::get_if<Error>(&value)) return std::unexpected(std::move(*error));
  if (auto* ask = std::get_if<Ask>(&value)) return to_input_required(*ask);
  return to_wire(std::get<T>(value));
}

// Wrong arguments are a result of the tool instead of a protocol error, so that the model can correct them.
mcp::Outcome invalid_arguments(const json::Validation& validation, mcp::Era era) {
  return to_reply(ToolResult::error("Invalid arguments:\n" + validation.text()), era);
}

mcp::Outcome finish_tool(Outcome<ToolResult> outcome, const ToolEntry& entry, const mcp::Request& request) {
  return finish(std::move(outcome), [&](const ToolResult& result) -> mcp::Outcome {
    if (entry.output && !result.is_error && !(result.structured && entry.output->accepts(*result.structured))) {
      return std::unexpected(
          errors::internal(fmt::format("The result of the tool {} does not fit its own output schema", request.name)));
    }
    return to_reply(result, request.era());
  });
}

mcp::Outcome prompt_reply(const PromptResult& result) { return to_reply(result); }

mcp::Outcome finish_resource(Outcome<ResourceResult> outcome, const mcp::Request& request) {
  return finish(std::move(outcome),
                [&](const ResourceResult& result) -> mcp::Outcome { return to_reply(result, request.name); });
}

template <class Entry>
std::shared_ptr<const Entry> find_visible(const Registry<Entry>& registry, std::string_view name,
                                          const Context& context) {
  auto entry = registry.find(name);
  return entry && shows(entry->visible, context) ? std::move(entry) : nullptr;
}

Task<mcp::Outcome> wait_for_tool(std::shared_ptr<const ToolEntry> entry, Call& call) {
  Context context(call);
  co_return finish_tool(co_await run_async(std::get<AsyncHandler<ToolResult>>(entry->handler), context), *entry,
                        call.request());
}

Task<mcp::Outcome> wait_for_prompt(std::shared_ptr<const PromptEntry> entry, Call& call) {
  Context context(call);
  co_return finish(co_await run_async(std::get<AsyncHandler<PromptResult>>(entry->handler), context), prompt_reply);
}

Task<mcp::Outcome> wait_for_resource(std::shared_ptr<const AnyResourceHandler> handler,
                                     UriTemplate::Variables variables, Call& call) {
  Context context(call);
  context.set_variables(std::move(variables));
  co_return finish_resource(co_await run_async(std::get<AsyncHandler<ResourceResult>>(*handler), context),
                            call.request());
}

}  // namespace

RegisteredService::RegisteredService(const ServerInfo& info, ServerOptions options, Listeners& listeners)
    : options_(std::move(options)),
      info_(implementation(info)),
      result_tail_(mcp::result_tail(info_)),
      instructions_(info.instructions),
      listeners_(listeners) {}

mcp::ServerCapabilities RegisteredService::capabilities() const {
  mcp::ServerCapabilities capabilities;
  const auto kind = [](bool offered) { return mcp::ServerCapabilities::Kind{offered, offered}; };
  capabilities.tools = kind(options_.tools || tools_.used());
  capabilities.prompts = kind(options_.prompts || prompts_.used());
  capabilities.resources = kind(options_.resources || resources_.used() || templates_.used());
  capabilities.subscribe = capabilities.resources.offered;
  const std::scoped_lock lock(completions_mutex_);
  capabilities.completions = !completions_.empty();
  capabilities.logging = true;
  return capabilities;
}

Service::Face RegisteredService::face(const Caller&, mcp::Era) {
  return {capabilities(), {info_, instructions_}, {options_.list_ttl, mcp::CacheScope::shared}};
}

RegisteredService::Answer RegisteredService::route(Call& call) {
  const mcp::Request& request = call.request();
  switch (request.method->method) {
    case mcp::Method::tools_call: return call_tool(call);
    case mcp::Method::tools_list: return list(tools_, "tools", call);
    case mcp::Method::prompts_list: return list(prompts_, "prompts", call);
    case mcp::Method::prompts_get: return get_prompt(call);
    case mcp::Method::resources_list: return list(resources_, "resources", call);
    case mcp::Method::resource_templates_list: return list(templates_, "resourceTemplates", call);
    case mcp::Method::resources_read: return read_resource(call);
    case mcp::Method::complete: return complete(call);
    default: return mcp::Outcome(std::unexpected(mcp::errors::method_not_found(request.method->name)));
  }
}

std::optional<mcp::Outcome> RegisteredService::answer(Call& call) {
  Answer answer = route(call);
  auto* now = std::get_if<mcp::Outcome>(&answer);
  if (now == nullptr) return std::nullopt;
  return std::move(*now);
}

Task<mcp::Outcome> RegisteredService::handle(Call& call) {
  Answer answer = route(call);
  if (auto* now = std::get_if<mcp::Outcome>(&answer)) co_return std::move(*now);
  co_return co_await std::move(std::get<Task<mcp::Outcome>>(answer));
}

template <class Entry>
mcp::Outcome RegisteredService::list(const Registry<Entry>& registry, std::string_view member, Call& call) const {
  const mcp::Request& request = call.request();
  if (!mcp::offers(capabilities(), request.method->method)) {
    return std::unexpected(mcp::errors::method_not_found(request.method->name));
  }
  std::optional<std::string> cursor;
  if (const std::string_view raw = request.param("cursor"); !raw.empty()) {
    cursor = json::decode_string(raw).value_or("");
  }
  const auto offer = registry.current();
  auto page = offer->page(member, cursor, options_.page_size, request.era(), Context(call));
  if (!page) return std::unexpected(page.error());
  // What a request may see can change before its next list, and applies to no other caller.
  mcp::Caching caching{options_.list_ttl, mcp::CacheScope::shared};
  if (offer->differs()) caching = {std::chrono::milliseconds(0), mcp::CacheScope::per_caller};
  return mcp::Reply{std::move(*page), {}, caching};
}

RegisteredService::Answer RegisteredService::call_tool(Call& call) {
  const mcp::Request& request = call.request();
  Context context(call);
  auto entry = find_visible(tools_, request.name, context);
  if (!entry) return mcp::Outcome(std::unexpected(mcp::errors::unknown_tool(request.name)));
  if (call.headers() != nullptr && !entry->mirrored.empty()) {
    const auto checked = mcp::check_mirrored(entry->mirrored, context.arguments(), *call.headers());
    if (!checked) return mcp::Outcome(std::unexpected(checked.error()));
  }
  if (const auto* raw = std::get_if<RawToolHandler>(&entry->handler)) {
    return finish((*raw)(context), [](std::string& text) { return to_reply(std::move(text)); });
  }
  const auto validation = entry->input->validate(context.arguments());
  if (!validation.ok()) return invalid_arguments(validation, request.era());
  if (const auto* plain = std::get_if<ToolHandler>(&entry->handler)) {
    return finish_tool((*plain)(context), *entry, request);
  }
  return wait_for_tool(std::move(entry), call);
}

RegisteredService::Answer RegisteredService::get_prompt(Call& call) {
  const mcp::Request& request = call.request();
  Context context(call);
  auto entry = find_visible(prompts_, request.name, context);
  if (!entry) return mcp::Outcome(std::unexpected(mcp::errors::unknown_prompt(request.name)));
  for (const auto& argument : entry->required) {
    if (!context.arguments().contains(argument)) {
      return mcp::Outcome(std::unexpected(mcp::errors::invalid_params(
          fmt::format("the prompt {} needs the argument {}", request.name, json::quote(argument)))));
    }
  }
  if (const auto* plain = std::get_if<PromptHandler>(&entry->handler)) {
    return finish((*plain)(context), prompt_reply);
  }
  return wait_for_prompt(std::move(entry), call);
}

RegisteredService::Answer RegisteredService::read_resource(Call& call) {
  const mcp::Request& request = call.request();
  std::shared_ptr<const AnyResourceHandler> handler;  // keeps its entry alive
  UriTemplate::Variables variables;
  Context context(call);
  if (const auto entry = find_visible(resources_, request.name, context)) {
    handler = {entry, &entry->handler};
  } else {
    for (const auto& [text, candidate] : templates_.current()->entries()) {
      if (!shows(candidate->visible, context)) continue;
      auto matched = candidate->uri.match(request.name);
      if (!matched) continue;
      handler = {candidate, &candidate->handler};
      variables = std::move(*matched);
      break;
    }
  }
  if (!handler) return mcp::Outcome(std::unexpected(mcp::errors::resource_not_found(request.name)));
  const auto* plain = std::get_if<ResourceHandler>(handler.get());
  if (plain == nullptr) return wait_for_resource(std::move(handler), std::move(variables), call);
  context.set_variables(std::move(variables));
  return finish_resource((*plain)(context), request);
}

mcp::Outcome RegisteredService::complete(Call& call) {
  const auto params = json::parse(call.request().message->params);
  const auto invalid = [] {
    return std::unexpected(
        mcp::errors::invalid_params("params needs a ref ({type: \"ref/prompt\", name} or {type: "
                                    "\"ref/resource\", uri}) and an argument {name, value}"));
  };
  if (!params || !params->is_object()) return invalid();
  const auto member = [](const boost::json::value& object, std::string_view key) -> const boost::json::value* {
    return object.is_object() ? object.get_object().if_contains(key) : nullptr;
  };
  const auto text = [&](const boost::json::value* object, std::string_view key) -> const boost::json::string* {
    const auto* value = object != nullptr ? member(*object, key) : nullptr;
    return value != nullptr ? value->if_string() : nullptr;
  };
  const auto* reference = member(*params, "ref");
  const auto* argument = member(*params, "argument");
  const auto* type = text(reference, "type");
  const auto* name = text(argument, "name");
  const auto* value = text(argument, "value");
  if (type == nullptr || name == nullptr || value == nullptr) return invalid();
  const bool prompt = *type == "ref/prompt";
  const auto* target = prompt ? text(reference, "name") : *type == "ref/resource" ? text(reference, "uri") : nullptr;
  if (target == nullptr) return invalid();
  const Context context(call);
  const bool known = prompt ? find_visible(prompts_, *target, context) != nullptr
                            : find_visible(templates_, *target, context) != nullptr ||
                                  find_visible(resources_, *target, context) != nullptr;
  if (!known) {
    return std::unexpected(prompt ? mcp::errors::unknown_prompt(*target) : mcp::errors::resource_not_found(*target));
  }

  CompletionHandler handler;
  {
    const std::scoped_lock lock(completions_mutex_);
    const auto found = completions_.find({std::string(*target), std::string(*name)});
    if (found != completions_.end()) handler = found->second;
  }
  Completion completion;
  if (handler) {
    CompletionRequest wanted{*name, *value, {}};
    if (const auto* given = member(*params, "context")) {
      const auto* arguments = member(*given, "arguments");
      if (arguments != nullptr && arguments->is_object()) wanted.context = arguments->get_object();
    }
    completion = handler(wanted);
  }
  boost::json::object result;
  boost::json::array values;
  for (const auto& item : completion.values) {
    if (values.size() == kMaxCompletions) break;
    values.emplace_back(item);
  }
  result["hasMore"] = completion.has_more || completion.values.size() > kMaxCompletions;
  result["values"] = std::move(values);
  if (completion.total) result["total"] = *completion.total;
  mcp::Reply reply;
  reply.members.add(R"("completion":)" + boost::json::serialize(result));
  return reply;
}

Task<std::vector<Service::Refused>> RegisteredService::follow(const Caller&, std::string_view, Session*,
                                                              const mcp::Request&, const mcp::SubscriptionFilter&) {
  co_return std::vector<Refused>{};
}

mcp::SubscriptionFilter RegisteredService::accept(const mcp::SubscriptionFilter& wanted, const Caller&, Session*) {
  const mcp::ServerCapabilities offered = capabilities();
  mcp::SubscriptionFilter accepted;
  accepted.tools = wanted.tools && offered.tools.offered;
  accepted.prompts = wanted.prompts && offered.prompts.offered;
  accepted.resources = wanted.resources && offered.resources.offered;
  if (!offered.subscribe) return accepted;
  std::ranges::copy_if(wanted.uris, std::back_inserter(accepted.uris),
                       [](const auto& uri) { return uri.size() <= kLongestUri; });
  return accepted;
}

void RegisteredService::add_completion(std::string reference, std::string argument, CompletionHandler handler) {
  const std::scoped_lock lock(completions_mutex_);
  completions_.insert_or_assign({std::move(reference), std::move(argument)}, std::move(handler));
}

bool RegisteredService::remove_tool(std::string_view name) {
  if (!tools_.remove(name)) return false;
  listeners_.list_changed(mcp::Method::tools_changed);
  return true;
}

bool RegisteredService::remove_prompt(std::string_view name) {
  if (!prompts_.remove(name)) return false;
  listeners_.list_changed(mcp::Method::prompts_changed);
  return true;
}

bool RegisteredService::remove_resource(std::string_view uri) {
  if (!resources_.remove(uri)) return false;
  listeners_.list_changed(mcp::Method::resources_changed);
  return true;
}

bool RegisteredService::remove_template(std::string_view uri_template) {
  if (!templates_.remove(uri_template)) return false;
  listeners_.list_changed(mcp::Method::resources_changed);
  return true;
}

}  // namespace proteus::server
