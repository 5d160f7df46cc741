#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <proteus/server_async.hpp>

#include "server/api/registry.hpp"
#include "server/core/listeners.hpp"
#include "server/core/service.hpp"

namespace proteus::server {

// Answers requests with what was registered with a Server. Thread-safe.
class RegisteredService final : public Service {
 public:
  RegisteredService(const ServerInfo& info, ServerOptions options, Listeners& listeners);

  Face face(const Caller& caller, mcp::Era era) override;
  mcp::ResultStyle modern_style() const override { return {mcp::Era::modern, info_, result_tail_}; }
  Task<mcp::Outcome> handle(Call& call) override;
  std::optional<mcp::Outcome> answer(Call& call) override;
  mcp::SubscriptionFilter accept(const mcp::SubscriptionFilter& wanted, const Caller& caller,
                                 Session* session) override;
  Task<std::vector<Refused>> follow(const Caller& caller, std::string_view authorization, Session* session,
                                    const mcp::Request& request, const mcp::SubscriptionFilter& accepted) override;
  void session_listens(Session& /*session*/) override {}
  void client_notified(Session& /*session*/, const json::Message& /*notification*/) override {}

  template <class Handler>
  Result<> add_tool(const Tool& tool, Handler handler) {
    auto entry = make_tool(tool);
    if (!entry) return std::unexpected(entry.error());
    entry->handler = std::move(handler);
    tools_.put(tool.name, std::make_shared<const ToolEntry>(std::move(*entry)));
    listeners_.list_changed(mcp::Method::tools_changed);
    return {};
  }
  template <class Handler>
  Result<> add_prompt(const Prompt& prompt, Handler handler) {
    if (prompt.name.empty()) return std::unexpected(errors::invalid("a prompt needs a name"));
    PromptEntry entry = make_prompt(prompt);
    entry.handler = std::move(handler);
    prompts_.put(prompt.name, std::make_shared<const PromptEntry>(std::move(entry)));
    listeners_.list_changed(mcp::Method::prompts_changed);
    return {};
  }
  template <class Handler>
  Result<> add_resource(const Resource& resource, Handler handler) {
    if (resource.uri.empty()) return std::unexpected(errors::invalid("a resource needs a URI"));
    ResourceEntry entry = make_resource(resource);
    entry.handler = std::move(handler);
    resources_.put(resource.uri, std::make_shared<const ResourceEntry>(std::move(entry)));
    listeners_.list_changed(mcp::Method::resources_changed);
    return {};
  }
  template <class Handler>
  Result<> add_template(const ResourceTemplate& resource_template, Handler handler) {
    auto entry = make_template(resource_template);
    if (!entry) return std::unexpected(entry.error());
    entry->handler = std::move(handler);
    templates_.put(resource_template.uri_template, std::make_shared<const TemplateEntry>(std::move(*entry)));
    listeners_.list_changed(mcp::Method::resources_changed);
    return {};
  }
  void add_completion(std::string reference, std::string argument, CompletionHandler handler);

  bool remove_tool(std::string_view name);
  bool remove_prompt(std::string_view name);
  bool remove_resource(std::string_view uri);
  bool remove_template(std::string_view uri_template);

 private:
  // The outcome, or the coroutine that produces it if the handler may wait.
  using Answer = std::variant<mcp::Outcome, Task<mcp::Outcome>>;
  Answer call_tool(Call& call);
  Answer get_prompt(Call& call);
  Answer read_resource(Call& call);
  Answer route(Call& call);
  mcp::Outcome complete(Call& call);
  template <class Entry>
  mcp::Outcome list(const Registry<Entry>& registry, std::string_view member, Call& call) const;
  mcp::ServerCapabilities capabilities() const;

  const ServerOptions options_;
  const std::string info_;
  const std::string result_tail_;
  const std::string instructions_;
  Listeners& listeners_;
  Registry<ToolEntry> tools_;
  Registry<PromptEntry> prompts_;
  Registry<ResourceEntry> resources_;
  Registry<TemplateEntry> templates_;

  mutable std::mutex completions_mutex_;
  std::map<std::pair<std::string, std::string>, CompletionHandler> completions_;
};

}  // namespace proteus::server
