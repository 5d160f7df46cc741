#include "admin/routes/principal_routes.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "base/date_time.hpp"
#include "json/text.hpp"

namespace proteus::admin {
namespace {

Task<Result<Answer>> issuers(gateway::Gateway& gateway, AdminRequest& /*request*/) {
  std::string all;
  for (const auto& [issuer, keys] : gateway.identities().status()) {
    all += fmt::format(R"({}{{"issuer":{},"keys":{},"fetched":{},"fault":{}}})", all.empty() ? "" : ",",
                       json::quote(issuer), keys.keys,
                       keys.fetched ? fmt::format("\"{}\"", write_date_time(*keys.fetched)) : "null",
                       keys.fault.empty() ? "null" : json::quote(keys.fault));
  }
  co_return Answer{.body = fmt::format(R"({{"issuers":[{}]}})", all)};
}

Task<Result<Answer>> rules(gateway::Gateway& gateway, AdminRequest& /*request*/) {
  boost::json::array all;
  for (const auto& rule : gateway.identities().rules())
    all.push_back(gateway::rule_binding().write(rule));
  co_return Answer{.body = boost::json::serialize(boost::json::object{{"rules", std::move(all)}})};
}

Task<Result<Answer>> match(gateway::Gateway& gateway, AdminRequest& request) {
  auto matched = gateway.identities().match(request.exchange().request().body());
  if (!matched) co_return std::unexpected(std::move(matched.error()));
  co_return Answer{.body = std::move(*matched)};
}

}  // namespace

Routes principal_routes(gateway::Gateway& gateway) {
  return {{.method = "GET",
           .path = "/admin/issuers",
           .answer = "{ issuers: Issuer[] }",
           .help = "Shows the identity providers: how many keys are known, and why the last fetch failed.",
           .handle = [&gateway](AdminRequest& request) { return issuers(gateway, request); }},
          {.method = "GET",
           .path = "/admin/rules",
           .answer = "{ rules: Rule[] }",
           .help = "Shows [[auth.rules]] in their order: whom each fits, and what they may use.",
           .handle = [&gateway](AdminRequest& request) { return rules(gateway, request); }},
          {.method = "POST",
           .path = "/admin/principals/match",
           .answer = "Matched",
           .help = "Says which of [[auth.rules]] fits a set of claims, sent as an object, and why those before it do "
                   "not.",
           .handle = [&gateway](AdminRequest& request) { return match(gateway, request); }}};
}

}  // namespace proteus::admin
