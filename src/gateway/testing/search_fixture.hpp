#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "gateway/search/search_tools.hpp"
#include "gateway/testing/bridge_fixture.hpp"

// For tests: a gateway with callers who search. The token "agent" makes a caller search everywhere, "reader" does the
// same among read-only tools, and "all" makes a caller list everything. The context "found" makes everybody search.
namespace proteus::gateway::test {

inline TestGateway::Setup searching(TestGateway::Setup setup = {}) {
  using catalog::Disclosure;
  setup.principals.push_back({.name = "agent", .token = Secret("agent"), .disclosure = Disclosure::search});
  setup.principals.push_back(
      {.name = "reader", .token = Secret("reader"), .entries = {.read_only = true}, .disclosure = Disclosure::search});
  setup.principals.push_back({.name = "all", .token = Secret("all")});
  setup.manifests.contexts.emplace("found", catalog::ContextManifest{.disclosure = Disclosure::search});
  setup.locals = [](Gateway& gateway) { return Locals{std::make_shared<SearchTools>(gateway)}; };
  return setup;
}

inline std::vector<std::string> tool_names(const boost::json::value& tools) {
  std::vector<std::string> names;
  for (const auto& tool : tools.as_array())
    names.emplace_back(tool.at("name").as_string());
  return names;
}

// Returns the names that `search_tools` found, best first.
inline std::vector<std::string> found_by(const boost::json::value& answer) {
  return tool_names(answer.at("result").at("structuredContent").at("tools"));
}

inline std::string naming(std::string_view tool, std::string_view arguments = "{}") {
  return fmt::format(R"({{"name":"{}","arguments":{}}})", tool, arguments);
}

}  // namespace proteus::gateway::test
