#include <algorithm>
#include <map>

#include <boost/json/serialize.hpp>
#include <proteus/server.hpp>

#include "json/text.hpp"
#include "server/core/call.hpp"

namespace proteus::server {
namespace {

boost::json::object parse_object(std::string_view raw) {
  auto value = json::parse(raw);
  return value && value->is_object() ? std::move(value->get_object()) : boost::json::object();
}

}  // namespace

// Parts of the request, parsed on first use.
struct Context::Parsed {
  std::optional<boost::json::object> arguments;
  std::optional<boost::json::object> meta;
  std::map<std::string, boost::json::object, std::less<>> answers;
  std::vector<std::pair<std::string, std::string>> variables;
};

Context::Context(Call& call) : call_(call) {}
Context::~Context() = default;

Context::Parsed& Context::parsed() const {
  if (!parsed_) parsed_ = std::make_unique<Parsed>();
  return *parsed_;
}

std::string_view Context::name() const { return call_.request().name; }

std::string_view Context::raw_arguments() const {
  const std::string_view raw = call_.request().param("arguments");
  return raw.empty() ? "{}" : raw;
}

std::string_view Context::raw_argument(std::string_view key) const { return json::find_member(raw_arguments(), key); }

const boost::json::object& Context::arguments() const {
  if (!parsed().arguments) parsed().arguments = parse_object(raw_arguments());
  return *parsed().arguments;
}

const boost::json::object& Context::meta() const {
  if (!parsed().meta) parsed().meta = parse_object(raw_meta());
  return *parsed().meta;
}

std::string_view Context::raw_meta() const { return call_.request().param("_meta"); }

std::string_view Context::variable(std::string_view name) const {
  const auto found = std::ranges::find(parsed().variables, name, [](const auto& variable) { return variable.first; });
  return found == parsed().variables.end() ? std::string_view{} : std::string_view(found->second);
}

void Context::set_variables(std::vector<std::pair<std::string, std::string>> variables) {
  parsed().variables = std::move(variables);
}

std::string_view Context::principal() const { return call_.caller().principal; }

ClientFeatures Context::client() const {
  const mcp::ClientCapabilities client = call_.client();
  ClientFeatures features{client.elicitation_form, client.elicitation_url, client.sampling, client.roots};
  // A gateway declares every capability in its session, and says in each request what the client of that request can
  // do.
  const std::string_view raw = call_.request().message->meta.value(mcp::meta::kBehindGateway);
  const auto behind = raw.empty() ? std::nullopt : std::optional(mcp::parse_client_capabilities(raw));
  if (!behind || !*behind) return features;
  features.elicitation = features.elicitation && (*behind)->elicitation_form;
  features.url_elicitation = features.url_elicitation && (*behind)->elicitation_url;
  features.sampling = features.sampling && (*behind)->sampling;
  features.roots = features.roots && (*behind)->roots;
  return features;
}

const boost::json::object* Context::answer(std::string_view key) const {
  if (const auto known = parsed().answers.find(key); known != parsed().answers.end()) return &known->second;
  const auto& answers = call_.rounds().answers;
  const auto found = answers.find(key);
  if (found == answers.end()) return nullptr;
  auto value = json::parse(found->second);
  if (!value || !value->is_object()) return nullptr;
  return &parsed().answers.emplace(key, std::move(value->get_object())).first->second;
}

std::string_view Context::state() const { return call_.rounds().state; }

void Context::progress(double done, std::optional<double> total, std::string_view message) {
  call_.progress({done, total, std::string(message)});
}

void Context::log(LogLevel level, const boost::json::value& data, std::string_view logger) {
  const auto wanted = call_.request().log_level;
  if (!wanted || static_cast<mcp::LogLevel>(level) < *wanted) return;
  call_.log(static_cast<mcp::LogLevel>(level), logger, boost::json::serialize(data));
}

void Context::release_connection(std::chrono::milliseconds retry) { call_.release(retry); }

}  // namespace proteus::server
