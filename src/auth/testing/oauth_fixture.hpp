#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "auth/fetch/form.hpp"
#include "auth/oauth/run.hpp"

// For tests: an authorization server as a table of answers, without a socket.
namespace proteus::auth::test {

inline const std::string kEndpoint = "https://mcp.example/mcp";
inline const std::string kIssuer = "https://id.example";

inline net::Url url_of(std::string_view text) { return net::Url::parse(text).value(); }

inline boost::json::object server_document(std::string_view issuer = kIssuer) {
  const std::string at(issuer);
  return {{"issuer", at},
          {"authorization_endpoint", at + "/authorize"},
          {"token_endpoint", at + "/token"},
          {"registration_endpoint", at + "/register"},
          {"revocation_endpoint", at + "/revoke"},
          {"code_challenge_methods_supported", {"S256"}}};
}
inline boost::json::object resource_document(std::string_view resource = kEndpoint, std::string_view issuer = kIssuer) {
  return {{"resource", resource}, {"authorization_servers", {issuer}}};
}
inline FetchAnswer answer(const boost::json::object& body, unsigned status = 200) {
  return {.status = status, .body = boost::json::serialize(body)};
}

// Returns what discovery would find.
inline oauth::Discovered discovered(const boost::json::object& document = server_document()) {
  const std::string issuer(document.at("issuer").as_string());
  return {.resource = kEndpoint, .server = read_server_metadata(boost::json::serialize(document), issuer).value()};
}

// Gives answers by URL, and 404 for unknown URLs. Several answers for one URL come in order; the last answer repeats.
class AnswerTable final : public Fetch {
 public:
  void answer(std::string_view url, Result<FetchAnswer> answer) {
    answers_[std::string(url)].push_back(std::move(answer));
  }

  void clear() {
    answers_.clear();
    requests.clear();
    bodies.clear();
    fields.clear();
  }

  Result<FetchAnswer> take(const FetchRequest& request) {
    requests.push_back(request.method + " " + request.url.text());
    bodies.push_back(request.body.reveal());
    fields.push_back(request.fields);
    const auto found = answers_.find(request.url.text());
    if (found == answers_.end()) return FetchAnswer{.status = 404};
    auto first = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    return first;
  }
  Task<Result<FetchAnswer>> fetch(FetchRequest request) override { co_return take(request); }

  // Return a header field or a form field of the last request.
  std::string field(std::string_view name) const {
    for (const auto& [key, value] : fields.back()) {
      if (key == name) return value.reveal();
    }
    return {};
  }
  std::string form(std::string_view name) const { return std::string(find_in(read_form(bodies.back()).value(), name)); }

  std::vector<std::string> requests;
  std::vector<std::string> bodies;
  std::vector<std::vector<std::pair<std::string, Secret>>> fields;

 private:
  std::map<std::string, std::vector<Result<FetchAnswer>>> answers_;
};

// Runs a machine against the table, without a coroutine.
template <class Machine>
Result<typename Machine::Outcome> run_on(AnswerTable& table, Machine machine) {
  while (true) {
    auto request = machine.next();
    if (!request) return std::unexpected(std::move(request.error()));
    if (!*request) return std::move(machine).outcome();
    if (auto taken = machine.take(table.take(**request)); !taken) return std::unexpected(std::move(taken.error()));
  }
}

}  // namespace proteus::auth::test
