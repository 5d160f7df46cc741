#include "client/api/settings.hpp"

#include <cstdlib>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/text/base64.hpp"
#include "json/text.hpp"
#include "mcp/meta.hpp"
#include "net/http_client/client_tls.hpp"

namespace proteus::client {

Result<std::string> value_of(const Auth::Value& value) {
  if (value.variable.empty() && value.text.empty()) {
    return std::unexpected(errors::unauthenticated("the credentials are not there; a descriptor does not hold them"));
  }
  if (value.variable.empty()) return value.text;
  const char* text = std::getenv(value.variable.c_str());
  if (text == nullptr || *text == '\0') {
    return std::unexpected(
        errors::unauthenticated(fmt::format("the environment variable {} is not set", value.variable)));
  }
  return std::string(text);
}

namespace {

Result<std::optional<Header>> credentials(const Auth& auth) {
  if (auth.scheme() == Auth::Scheme::none || auth.scheme() == Auth::Scheme::oauth) return std::nullopt;
  const auto secret = value_of(auth.secret());
  if (!secret) return std::unexpected(secret.error());
  if (auth.scheme() == Auth::Scheme::bearer) return Header{"Authorization", "Bearer " + *secret};
  if (auth.scheme() == Auth::Scheme::header) return Header{auth.name(), *secret};
  const auto user = value_of(auth.user());
  if (!user) return std::unexpected(user.error());
  return Header{"Authorization", "Basic " + base64_encode(*user + ":" + *secret)};
}

Result<boost::json::object> object_of(const std::string& text) {
  if (text.empty()) return boost::json::object();
  auto value = json::parse(text);
  if (!value) return std::unexpected(std::move(value.error()));
  if (!value->is_object()) return std::unexpected(errors::invalid("params must be an object"));
  return std::move(value->get_object());
}

Result<std::string> elicit(const ElicitationHandler& handler, const std::string& params) {
  auto object = object_of(params);
  if (!object) return std::unexpected(std::move(object.error()));
  Elicitation elicitation;
  elicitation.message = text_member(*object, "message");
  elicitation.url = text_member(*object, "url");
  if (const auto* schema = object->if_contains("requestedSchema"); schema != nullptr && schema->is_object())
    elicitation.requested_schema = schema->get_object();
  const bool is_form = elicitation.url.empty();
  elicitation.params = std::move(*object);
  const ElicitationAnswer answer = handler(elicitation);
  switch (answer.action) {
    case ElicitationAnswer::Action::decline: return R"({"action":"decline"})";
    case ElicitationAnswer::Action::cancel: return R"({"action":"cancel"})";
    case ElicitationAnswer::Action::accept: break;
  }
  if (!is_form) return R"({"action":"accept"})";
  return fmt::format(R"({{"action":"accept","content":{}}})", boost::json::serialize(answer.content));
}

Result<std::string> sample(const SamplingHandler& handler, const std::string& params) {
  const auto object = object_of(params);
  if (!object) return std::unexpected(object.error());
  const auto result = handler(*object);
  if (!result) return std::unexpected(result.error());
  return boost::json::serialize(*result);
}

Result<std::string> list_roots(const RootsHandler& handler) {
  boost::json::array roots;
  for (const Root& root : handler()) {
    boost::json::object entry{{"uri", root.uri}};
    if (!root.name.empty()) entry.emplace("name", root.name);
    roots.emplace_back(std::move(entry));
  }
  return boost::json::serialize(boost::json::object{{"roots", std::move(roots)}});
}

}  // namespace

std::string text_member(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::string members_of(const boost::json::object& object) {
  const std::string text = boost::json::serialize(object);
  return text.substr(1, text.size() - 2);
}

Result<Endpoint> McpServer::Settings::endpoint() const {
  if (!command.empty()) {
    if (!url.empty()) return std::unexpected(errors::invalid("a URL and a command are given; one server has one"));
    std::vector<std::pair<std::string, std::string>> variables(environment.begin(), environment.end());
    for (const auto& name : pass_environment) {
      const char* value = std::getenv(name.c_str());
      if (value == nullptr) {
        return std::unexpected(errors::invalid(fmt::format("the environment variable {} is not set", name)));
      }
      if (!environment.contains(name)) variables.emplace_back(name, value);
    }
    return net::Command{command, net::child_environment(variables), working_directory};
  }
  auto parsed = net::Url::parse(url);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  return std::move(*parsed);
}

Result<net::HttpClientOptions> client_http_options(const std::string& ca_file) {
  net::HttpClientOptions options;
  auto proxies = net::ProxySettings::from_environment();
  if (!proxies) return std::unexpected(std::move(proxies.error()));
  options.proxies = std::move(*proxies);
  if (!ca_file.empty()) {
    net::ClientTls tls;
    tls.authorities = ca_file;
    auto context = net::client_tls(tls);
    if (!context) return std::unexpected(std::move(context.error()));
    options.tls = std::move(*context);
  }
  return options;
}

Result<net::HttpClientOptions> McpServer::Settings::http_options() const {
  auto options = client_http_options(ca_file);
  if (options) options->user_agent = fmt::format("{}/{}", client_name, client_version);
  return options;
}

Result<Options> McpServer::Settings::options() const {
  for (const auto& [what, duration] : {std::pair{"the refresh interval", refresh_interval},
                                       {"the health interval", health_interval},
                                       {"the time a circuit is open", circuit_open}}) {
    if (duration.count() <= 0) return std::unexpected(errors::invalid(fmt::format("{} must be above zero", what)));
  }
  if (ttl.count() < 0) return std::unexpected(errors::invalid("the time to live must not be negative"));
  if (circuit_failures == 0) return std::unexpected(errors::invalid("a circuit opens after at least one failure"));
  for (const auto& member : list_meta) {
    if (!mcp::meta::is_protocol_key(member.key())) continue;
    return std::unexpected(errors::invalid(
        fmt::format("_meta of lists: the protocol sets {} itself", json::quote(std::string_view(member.key())))));
  }
  Options options;
  options.client_info =
      fmt::format(R"({{"name":{},"version":{}}})", json::quote(client_name), json::quote(client_version));
  if (era) options.era = *era == Era::legacy ? mcp::Era::legacy : mcp::Era::modern;
  if (transport == HttpTransport::streamable_http) options.transport = TransportChoice::streamable_http;
  if (transport == HttpTransport::old_sse) options.transport = TransportChoice::old_sse;
  options.timeout = timeout;
  options.call_timeout = call_timeout;
  options.connect_timeout = connect_timeout;
  options.limits.message_bytes = max_message_bytes;
  options.headers = headers;
  auto secret = credentials(auth);
  if (!secret) return std::unexpected(std::move(secret.error()));
  if (*secret) options.headers.push_back(std::move(**secret));
  return options;
}

HostSettings McpServer::Settings::host() const {
  return {.name = name(),
          .refresh = {.auto_refresh = auto_refresh,
                      .refresh_interval = refresh_interval,
                      .event_driven_refresh = event_driven_refresh,
                      .ttl = ttl,
                      .health_interval = health_interval,
                      .max_consecutive_failures = max_consecutive_failures},
          .circuit_failures = circuit_failures,
          .circuit_open = circuit_open,
          .list_meta = members_of(list_meta)};
}

void McpServer::Settings::add_handlers(Options& options, const std::shared_ptr<CallbackThread>& thread,
                                       const std::weak_ptr<boost::asio::io_context>& io) const {
  const auto elicitation = [&](const ElicitationHandler& handler) -> Handler {
    if (!handler) return nullptr;
    return [thread, io, handler](Question question) {
      const std::size_t bytes = question.params.size();
      return await_callback(
          thread, io, [handler, question = std::move(question)] { return elicit(handler, question.params); }, bytes);
    };
  };
  options.handlers.elicit_form = elicitation(on_elicitation);
  options.handlers.elicit_url = elicitation(on_url_elicitation);
  if (on_sampling) {
    options.handlers.sample = [thread, io, handler = on_sampling](Question question) {
      const std::size_t bytes = question.params.size();
      return await_callback(
          thread, io, [handler, question = std::move(question)] { return sample(handler, question.params); }, bytes);
    };
  }
  if (on_roots) {
    options.handlers.list_roots = [thread, io, handler = on_roots](const Question&) {
      return await_callback(thread, io, [handler] { return list_roots(handler); }, 0);
    };
  }
  if (on_log) {
    options.on_log = [thread, handler = on_log](const LogEntry& entry) {
      const auto pass = [handler, level = entry.level, logger = entry.logger, text = std::string(entry.data)] {
        const auto data = json::parse(text);
        handler({std::string(mcp::to_string(level)), logger, data ? *data : boost::json::value()});
      };
      thread->post(pass, entry.logger.size() + entry.data.size());
    };
  }
}

}  // namespace proteus::client
