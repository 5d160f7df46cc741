// The client that the official conformance suite runs: `conformance-client URL`, with the scenario in the environment.
// Uses only the public client library; the scenarios decide which tools to call, and how to answer.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <proteus/client.hpp>

#include "conformance_browser.hpp"

namespace {

using namespace proteus::client;
using namespace std::chrono_literals;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

boost::json::object context() {
  const std::string text = variable("MCP_CONFORMANCE_CONTEXT");
  return text.empty() ? boost::json::object() : boost::json::parse(text).as_object();
}

std::string told(const char* name) {
  const auto all = context();
  const auto* value = all.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// Returns how to sign in. Servers that do not require it get no credentials.
OAuth credentials(const std::string& scenario) {
  OAuth oauth;
  oauth.client.id = told("client_id");
  oauth.client.secret.text = told("client_secret");
  oauth.client.key.text = told("private_key_pem");
  oauth.redirect_uri = "http://127.0.0.1:3000/callback";
  oauth.authorize = visit;
  if (scenario == "auth/basic-cimd") oauth.client_document = "https://conformance-test.local/client-metadata.json";
  if (scenario.starts_with("auth/client-credentials")) oauth.grant = OAuth::Grant::client_credentials;
  if (scenario == "auth/wif-jwt-bearer") {
    oauth.grant = OAuth::Grant::jwt_bearer;
    oauth.assertion = [](const std::string&) { return told("valid_jwt"); };
  }
  if (scenario == "auth/enterprise-managed-authorization") {
    oauth.grant = OAuth::Grant::identity_assertion;
    oauth.assertion = [](const std::string&) { return told("idp_id_token"); };
    oauth.identity_provider = {.issuer = told("idp_issuer"), .id = told("idp_client_id")};
  }
  return oauth;
}

// Calls the server, and prints and counts failures.
class Run {
 public:
  explicit Run(McpServer& server) : server_(server) {}

  McpServer& server() { return server_; }
  int failures() const { return failures_; }

  void call(const std::string& tool, const boost::json::object& arguments = {}) {
    const auto result = server_.call_tool(tool, arguments);
    if (!result) return fail(tool, result.error());
    std::printf("%s: %s\n", tool.c_str(), result->text().c_str());
  }
  template <class T>
  void expect(const std::string& what, const proteus::Result<T>& result) {
    if (!result) fail(what, result.error());
  }

 private:
  void fail(const std::string& what, const proteus::Error& error) {
    ++failures_;
    std::fprintf(stderr, "%s: %s\n", what.c_str(), error.message().c_str());
  }

  McpServer& server_;
  int failures_ = 0;
};

void call_all(Run& run) {
  for (const Tool& tool : *run.server().tools())
    run.call(tool.name, {{"region", "us-west1"}});
}

void use_everything(Run& run) {
  for (const Tool& tool : *run.server().tools())
    run.call(tool.name);
  for (const Resource& resource : *run.server().resources())
    run.expect(resource.uri, run.server().read_resource(resource.uri));
  for (const Prompt& prompt : *run.server().prompts())
    run.expect(prompt.name, run.server().get_prompt(prompt.name));
}

// The suite's context lists the calls.
void call_as_told(Run& run) {
  const auto all = context();
  for (const auto& call : all.at("toolCalls").as_array())
    run.call(std::string(call.at("name").as_string()), call.at("arguments").as_object());
}

void echo_schema(Run& run) {
  const auto tool = run.server().tool("json_schema_2020_12_tool");
  run.expect("json_schema_2020_12_tool", tool);
  if (tool) run.call("json_schema_echo", {{"schema", tool->input_schema()}});
}

void require_input(Run& run) {
  run.call("test_mrtr_echo_state");
  run.call("test_mrtr_no_state");
  run.call("test_mrtr_no_result_type");
}

const std::map<std::string_view, std::function<void(Run&)>> scenarios = {
    {"tools_call", [](Run& run) { run.call("add_numbers", {{"a", 5}, {"b", 3}}); }},
    {"elicitation-sep1034-client-defaults", [](Run& run) { run.call("test_client_elicitation_defaults"); }},
    {"sse-retry", [](Run& run) { run.call("test_reconnection"); }},
    {"sep-2322-client-request-state", require_input},
    {"http-standard-headers", use_everything},
    {"http-custom-headers", call_as_told},
    {"http-invalid-tool-headers", call_all},
    {"json-schema-2020-12-preservation", echo_schema},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: conformance-client URL\n");
    return 2;
  }
  const std::string scenario = variable("MCP_CONFORMANCE_SCENARIO");
  McpServer* asked = nullptr;
  auto server = McpServer::builder(argv[1])
                    .client_info("proteus-conformance-client", "0.1.0")
                    .timeout(20s)
                    .call_timeout(20s)
                    .auth(credentials(scenario))
                    .on_elicitation([&](const Elicitation&) {
                      // Another call between the rounds of the asking call: the state of neither may leak into the
                      // other.
                      if (scenario.starts_with("sep-2322")) static_cast<void>(asked->call_tool("test_mrtr_unrelated"));
                      return ElicitationAnswer{.action = ElicitationAnswer::Action::accept};
                    })
                    .on_sampling([](const boost::json::object&) -> proteus::Result<boost::json::object> {
                      return boost::json::object{
                          {"role", "assistant"}, {"model", "none"}, {"content", {{"type", "text"}, {"text", "yes"}}}};
                    })
                    .on_roots([] { return std::vector<Root>{{"file:///tmp", "temporary"}}; })
                    .build();
  asked = &server;
  if (const auto opened = server.open(); !opened) {
    std::fprintf(stderr, "%s\n", opened.error().message().c_str());
    return 1;
  }
  Run run(server);
  if (const auto found = scenarios.find(scenario); found != scenarios.end()) found->second(run);
  if (scenario.starts_with("auth/")) run.call("test-tool");
  server.close();
  return run.failures() == 0 ? 0 : 1;
}
