#include "gateway/request/named_call.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/log/log.hpp"
#include "gateway/callers/search_definitions.hpp"
#include "json/message.hpp"
#include "json/text.hpp"

namespace proteus::gateway {
namespace {

// A request and everything it views, except what it shares with the request that was sent.
struct NamedRequest {
  explicit NamedRequest(const mcp::Request& sent) : request(sent) {}

  mcp::Request request;
  json::Message message;
  std::string name;
  std::string params;
};

Error misused(std::string_view why) {
  return errors::invalid(fmt::format(
      R"(Invalid arguments: {}. Send {{"name": "the name of a tool", "arguments": {{its arguments}}}}.)", why));
}

std::shared_ptr<const mcp::Request> make_request(const mcp::Request& sent, std::string_view name,
                                                 std::string_view arguments) {
  auto named = std::make_shared<NamedRequest>(sent);
  named->name = json::decode_string(name).value_or("");
  constexpr std::string_view kHead = R"({"name":)";
  constexpr std::string_view kBetween = R"(,"arguments":)";
  named->params.reserve(kHead.size() + name.size() + kBetween.size() + arguments.size() + 1);
  named->params.append(kHead).append(name).append(kBetween).append(arguments).append("}");
  const std::string_view text = named->params;
  json::Message& message = named->message;
  message.text = sent.message->text;
  message.kind = sent.message->kind;
  message.id = sent.message->id;
  message.method = sent.message->method;
  message.params = text;
  message.meta = sent.message->meta;
  message.body.add({"name", text.substr(kHead.size(), name.size())});
  message.body.add({"arguments", text.substr(kHead.size() + name.size() + kBetween.size(), arguments.size())});
  named->request.message = &message;
  named->request.name = named->name;
  return {named, &named->request};
}

}  // namespace

Result<> name_call(server::Call& call, const catalog::View& view) {
  const mcp::Request& sent = call.request();
  const bool reads = sent.name == kCallReadTool;
  if (call.stands_for_another() || (!reads && sent.name != kCallTool)) return {};
  const auto found = view.find(catalog::Kind::tool, sent.name);
  if (!found || found.snapshot != search_definitions().get()) return {};

  const std::string_view given = sent.param("arguments");
  std::vector<std::unique_ptr<std::string>> storage;
  if (!given.empty() && !json::is_object(given)) return std::unexpected(misused("they are not an object"));
  const auto members = json::members_of(given.empty() ? "{}" : given, storage);
  if (!members) return std::unexpected(misused(members.error().message()));
  for (const auto& [key, value] : *members) {
    if (key != "name" && key != "arguments")
      return std::unexpected(misused(fmt::format("there is no parameter {}", log::printable(key, 100))));
  }
  const std::string_view name = members->value("name");
  const std::string_view arguments = members->value("arguments");
  if (!json::is_string(name)) return std::unexpected(misused("name must be a string"));
  if (!arguments.empty() && !json::is_object(arguments)) {
    return std::unexpected(misused("arguments must be an object"));
  }
  call.stand_for(make_request(sent, name, arguments.empty() ? "{}" : arguments),
                 reads ? server::Call::Effect::reads : server::Call::Effect::any);
  return {};
}

}  // namespace proteus::gateway
