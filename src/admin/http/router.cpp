#include "admin/http/router.hpp"

#include <algorithm>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/http/answer_types.hpp"
#include "admin/http/problem.hpp"
#include "base/log/log.hpp"
#include "net/http_server/refused_request.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::admin {
namespace {

constexpr std::string_view kSecret = "X-Admin-Secret";

std::string_view take_segment(std::string_view& path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

std::optional<AdminRequest::Variables> match(std::string_view pattern, std::string_view path) {
  AdminRequest::Variables variables;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view wanted = take_segment(pattern);
    const std::string_view given = take_segment(path);
    if (wanted.starts_with('{') && !given.empty()) {
      variables.emplace_back(wanted.substr(1, wanted.size() - 2), given);
    } else if (wanted != given) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return variables;
}

Result<> check_parameters(const Route& route, std::string_view query) {
  for (const auto& [key, value] : split_query(query)) {
    const bool known = std::ranges::any_of(route.parameters, [&](const auto& one) { return one.name == key; });
    if (!known)
      return std::unexpected(errors::invalid(fmt::format("there is no parameter {}", log::printable(key, 64))));
  }
  return {};
}

}  // namespace

Router::Router(Routes routes, AdminKeys keys, RefusalLog& refusals)
    : routes_(std::move(routes)), auth_(std::move(keys)), refusals_(refusals) {
  routes_.insert(routes_.begin(), {.method = "GET", .path = kRoot, .help = "This list.", .handle = {}});
  help_ = write_help();
}

std::optional<AdminAuth::KeyHolder> Router::key_holder_of(const net::Request& request) const {
  const std::size_t given = request.fields().count(kSecret);
  auto holder = given == 1 ? auth_.admit(*request.fields().find(kSecret)) : std::nullopt;
  if (!holder) {
    const std::string_view why = given == 0 ? "X-Admin-Secret is missing" : "the secret is unknown";
    refusals_.add(net::refused(request, RefusalReason::admin_secret, why));
  }
  return holder;
}

Result<AdminAuth::KeyHolder> Router::signed_in(const net::Request& request) const {
  const auto refuse = [&](RefusalReason reason, Error error) {
    refusals_.add(net::refused(request, reason, error.message()));
    return std::unexpected(std::move(error));
  };
  if (auto page = page_sessions_->check_page(request); !page) return refuse(RefusalReason::origin, page.error());
  const auto session = page_sessions_->find(request);
  auto holder = session ? auth_.admit_again(session->holder) : std::nullopt;
  if (!holder) {
    return refuse(RefusalReason::admin_secret,
                  errors::unauthenticated("the session of the page has ended; sign in again at /ui"));
  }
  const bool reads = request.method() == "GET" || request.method() == "HEAD";
  if (auto token = reads ? Result<>{} : PageSessions::check_token(request, *session); !token)
    return refuse(RefusalReason::origin, token.error());
  holder->until = session->until;
  holder->session = session->token;
  return std::move(*holder);
}

Task<std::expected<AdminAuth::KeyHolder, server::Refusal>> Router::let_in(const net::Request& request) const {
  const bool by_cookie = page_sessions_ != nullptr && !request.fields().find(kSecret) &&
                         !request.fields().find("Authorization") && page_sessions_->has_cookie(request);
  if (by_cookie) {
    auto holder = signed_in(request);
    if (holder) co_return std::move(*holder);
    const unsigned status = problem_status(holder.error());
    co_return std::unexpected(server::Refusal(status, std::move(holder.error()), {}));
  }
  if (!request.fields().find(kSecret) && doorkeeper_.is_there && doorkeeper_.is_there()) {
    auto found = co_await doorkeeper_.find(request);
    if (!found) co_return std::unexpected(std::move(found.error()));
    co_return AdminAuth::KeyHolder{.name = std::move(found->name),
                                   .digest = found->digest,
                                   .role = found->role,
                                   .is_vouched_for = true,
                                   .until = found->until,
                                   .issuer = std::move(found->issuer)};
  }
  if (auto holder = key_holder_of(request)) co_return std::move(*holder);
  co_return std::unexpected(server::Refusal(
      401, errors::unauthenticated(fmt::format("the {} header is missing or its secret is unknown", kSecret)), {}));
}

std::optional<std::string> Router::name_of_key(std::string_view secret) const {
  const auto holder = auth_.admit(secret);
  if (!holder || holder->role != Role::admin) return std::nullopt;
  return holder->name;
}

bool Router::knows(const net::Request& request) const { return key_holder_of(request).has_value(); }

Router::Found Router::find(std::string_view method, std::string_view path) const {
  Found found;
  for (const auto& route : routes_) {
    auto variables = match(route.path, path);
    if (!variables) continue;
    if (route.method == method) return {&route, std::move(*variables), {}};
    found.allowed += fmt::format("{}{}", found.allowed.empty() ? "" : ", ", route.method);
  }
  return found;
}

std::string Router::write_help() const {
  boost::json::array all;
  for (const auto& route : routes_) {
    boost::json::array parameters;
    for (const auto& parameter : route.parameters)
      parameters.push_back({{"name", parameter.name}, {"help", parameter.help}});
    all.push_back({{"method", route.method},
                   {"path", route.path},
                   {"help", route.help},
                   {"answer", route.answer.empty() ? boost::json::value(nullptr) : boost::json::value(route.answer)},
                   {"changes_state", route.effect == Effect::changes},
                   {"parameters", std::move(parameters)}});
  }
  boost::json::object types;
  for (const auto& type : answer_types())
    types.emplace(type.name, type.text);
  return boost::json::serialize(boost::json::object{{"routes", std::move(all)}, {"types", std::move(types)}});
}

Task<> Router::handle(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  auto holder = co_await let_in(request);
  if (!holder) co_return co_await reply_refusal(exchange, holder.error());
  Found found = find(request.method(), request.path());
  const bool looks = found.route != nullptr ? found.route->effect == Effect::reads : request.method() == "GET";
  if (holder->role == Role::viewer && !looks) {
    refusals_.add(net::refused(request, RefusalReason::admin_secret, "the key may only look", holder->name));
    co_return co_await reply_problem(exchange,
                                     errors::forbidden(fmt::format("{} is a viewer, who may only look", holder->name)));
  }
  if (found.route == nullptr && found.allowed.empty()) {
    co_return co_await reply_problem(exchange,
                                     errors::not_found("there is nothing at this path; GET /admin lists all"));
  }
  if (found.route == nullptr) {
    co_return co_await reply_problem(exchange, 405,
                                     errors::unsupported(fmt::format("this path takes {}", found.allowed)),
                                     fmt::format("Allow: {}\r\n", found.allowed));
  }
  const Route& route = *found.route;
  if (auto checked = check_parameters(route, request.query()); !checked)
    co_return co_await reply_problem(exchange, std::move(checked.error()));
  if (!co_await exchange.read_body(net::Standing::known)) co_return;
  Answer answer{.body = help_};
  if (route.handle) {
    AdminRequest admin_request(exchange, auth_, std::move(*holder), std::move(found.variables));
    auto handled = co_await route.handle(admin_request);
    if (!handled) {
      if (handled.error().kind() == ErrorKind::exhausted) {
        refusals_.add(net::refused(request, RefusalReason::limit, handled.error().message(), admin_request.who()));
      }
      co_return co_await reply_problem(exchange, std::move(handled.error()));
    }
    answer = std::move(*handled);
  }
  if (answer.sent) co_return;
  if (settle_ && route.effect == Effect::changes) answer.fields += co_await settle_();
  co_await exchange.reply({.status = answer.status, .content_type = "application/json", .prepared = answer.fields},
                          answer.body);
}

}  // namespace proteus::admin
