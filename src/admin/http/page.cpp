#include "admin/http/page.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/http/problem.hpp"
#include "base/date_time.hpp"
#include "json/text.hpp"
#include "net/http_server/refused_request.hpp"
#include "net/http_server/response_head.hpp"

namespace proteus::admin {
namespace {

constexpr std::size_t kLongestBody = 8192;

// Allows no other host, no inline script, no conversion of text into scripts, and no embedding in frames.
constexpr std::string_view kSafetyFields =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: same-origin\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";
constexpr std::string_view kPrivate = "Cache-Control: no-store\r\n";

}  // namespace

const PageFile* Page::find_file(std::string_view path) const {
  const auto at = [&](std::string_view wanted) {
    const auto found = std::ranges::find(files_, wanted, &PageFile::path);
    return found == files_.end() ? nullptr : &*found;
  };
  if (path.starts_with("/ui/assets/")) return at(path);
  // Each screen has its own path, which the script of the page interprets.
  return at(kRoot);
}

Task<> Page::handle(net::Exchange& exchange) {
  exchange.add_fields(kSafetyFields);
  const net::Request& request = exchange.request();
  const std::string_view path = request.path();
  const bool reads = request.method() == "GET" || request.method() == "HEAD";
  if (path == "/ui/session" && reads) return show_session(exchange);
  if (path == "/ui/providers" && reads) return list_providers(exchange);
  if (path == "/ui/sign-in" && request.method() == "POST") return sign_in(exchange);
  if (path == "/ui/sign-out" && request.method() == "POST") return sign_out(exchange);
  if (reads) return reply_file(exchange);
  return reply_problem(exchange, 405, errors::unsupported("the page takes GET"), "Allow: GET, HEAD\r\n");
}

Task<> Page::reply_file(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  const PageFile* const file = find_file(request.path());
  if (file == nullptr) {
    co_return co_await reply_problem(
        exchange,
        errors::not_found(files_.empty() ? "this program was built without the page" : "there is no such file"));
  }
  // The name of an asset changes with its content.
  const bool is_asset = file->path != kRoot;
  const std::string fields =
      fmt::format("{}ETag: {}\r\nVary: Accept-Encoding\r\n",
                  is_asset ? "Cache-Control: public, max-age=31536000, immutable\r\n" : "Cache-Control: no-cache\r\n",
                  file->entity_tag);
  if (request.fields().find("If-None-Match").value_or("") == file->entity_tag) {
    co_await exchange.reply({.status = 304, .prepared = fields});
    co_return;
  }
  co_await exchange.reply(
      {.status = 200, .content_type = file->content_type, .prepared = fields + "Content-Encoding: gzip\r\n"},
      file->gzip);
}

Task<> Page::refuse(net::Exchange& exchange, RefusalReason reason, unsigned status, Error error) {
  refusals_.add(net::refused(exchange.request(), reason, error.message()));
  return reply_problem(exchange, status, std::move(error), std::string(kPrivate));
}

Result<Page::Entered> Page::find(const net::Request& request) const {
  auto session = sessions_.find(request);
  if (!session) return std::unexpected(errors::unauthenticated("nobody has signed in, or the session has ended"));
  auto holder = auth_.admit_again(session->holder);
  if (!holder) return std::unexpected(errors::unauthenticated("the key of this session was removed"));
  return Entered{std::move(*session), std::move(*holder)};
}

Task<> Page::reply_session(net::Exchange& exchange, const Entered& entered) {
  boost::json::object out{{"name", entered.holder.name},
                          {"role", entered.holder.role == Role::admin ? "admin" : "viewer"},
                          {"token", entered.session.token},
                          {"until", write_date_time(entered.session.until)},
                          {"version", version_}};
  if (!entered.path.empty()) out["path"] = entered.path;
  const std::string body = boost::json::serialize(out);
  const std::string fields = std::string(kPrivate) + sessions_.set_cookie(exchange.request(), entered.session);
  co_await exchange.reply({.status = 200, .content_type = "application/json", .prepared = fields}, body);
}

Task<> Page::show_session(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  if (auto page = sessions_.check_page(request); !page)
    co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(page.error()));
  auto entered = find(request);
  // Not a refusal: every page asks for its session when it is opened.
  if (!entered) co_return co_await reply_problem(exchange, 401, std::move(entered.error()), std::string(kPrivate));
  entered->session = sessions_.renewed(std::move(entered->session));
  co_await reply_session(exchange, *entered);
}

Task<> Page::list_providers(net::Exchange& exchange) {
  if (auto page = sessions_.check_page(exchange.request()); !page)
    co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(page.error()));
  boost::json::array issuers;
  for (auto& issuer : providers_.issuers ? providers_.issuers() : std::vector<std::string>())
    issuers.emplace_back(std::move(issuer));
  const std::string body = boost::json::serialize(boost::json::object{{"issuers", std::move(issuers)}});
  co_await exchange.reply({.status = 200, .content_type = "application/json", .prepared = kPrivate}, body);
}

// Returns the URL instead of redirecting: the page navigates there itself, so that the cookie for the return is set in
// an answer to the page's own request.
Task<> Page::send_to_provider(net::Exchange& exchange, std::string issuer, std::string path) {
  auto sent = co_await providers_.send(exchange.request(), std::move(issuer), std::move(path));
  if (!sent) co_return co_await reply_problem(exchange, std::move(sent.error()));
  std::string fields(kPrivate);
  net::append_field(fields, "Set-Cookie", sent->cookie);
  const std::string body = boost::json::serialize(boost::json::object{{"url", sent->url}});
  co_await exchange.reply({.status = 200, .content_type = "application/json", .prepared = fields}, body);
}

Result<AdminAuth::KeyHolder> Page::holder_of_code(std::string_view code) {
  const auto offered = code_.take(code);
  auto holder = offered ? auth_.admit_again(*offered) : std::nullopt;
  if (holder) return std::move(*holder);
  return std::unexpected(errors::unauthenticated("the code of the link was used before, or its time is over"));
}

Result<Page::Entered> Page::enter(const net::Request& request, std::string_view key, std::string_view value) {
  if (key == "secret") {
    auto holder = auth_.admit(value);
    if (!holder) return std::unexpected(errors::unauthenticated("nobody has a key with this secret"));
    auto session = sessions_.begin(*holder);
    return Entered{std::move(session), std::move(*holder)};
  }
  if (auto arrived = providers_.take ? providers_.take(request, value) : std::nullopt) {
    auto session = sessions_.begin(arrived->holder);
    return Entered{std::move(session), std::move(arrived->holder), std::move(arrived->path)};
  }
  auto holder = holder_of_code(value);
  if (!holder) return std::unexpected(std::move(holder.error()));
  auto session = sessions_.begin(*holder);
  return Entered{std::move(session), std::move(*holder)};
}

Task<> Page::sign_in(net::Exchange& exchange) {
  if (auto page = sessions_.check_page(exchange.request()); !page)
    co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(page.error()));
  if (!co_await exchange.read_body(net::Standing::stranger)) co_return;
  const std::string_view body = exchange.request().body();
  if (body.size() > kLongestBody)
    co_return co_await reply_problem(exchange, errors::too_large("the body", kLongestBody));
  const auto parsed = json::parse(body);
  const auto* const members = parsed ? parsed->if_object() : nullptr;
  const auto text = [&](std::string_view key) -> std::optional<std::string> {
    const auto* const value = members == nullptr ? nullptr : members->if_contains(key);
    return value != nullptr && value->is_string() ? std::optional<std::string>(value->get_string()) : std::nullopt;
  };
  if (auto issuer = text("issuer"); issuer && members->size() <= 2 && providers_.send)
    co_return co_await send_to_provider(exchange, std::move(*issuer), text("path").value_or(std::string(kRoot)));
  const std::string_view key = text("secret") ? "secret" : "code";
  const auto value = text(key);
  if (!value || members->size() != 1) {
    co_return co_await reply_problem(
        exchange, errors::invalid(R"(the body must be {"secret": …}, {"code": …}, or {"issuer": …, "path": …})"));
  }
  auto entered = enter(exchange.request(), key, *value);
  if (!entered) co_return co_await refuse(exchange, RefusalReason::admin_secret, 401, std::move(entered.error()));
  co_await reply_session(exchange, *entered);
}

Task<> Page::sign_out(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  if (auto page = sessions_.check_page(request); !page)
    co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(page.error()));
  if (const auto session = sessions_.find(request)) {
    if (auto token = PageSessions::check_token(request, *session); !token)
      co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(token.error()));
    sessions_.end(*session);
    auth_.end_withdrawn();
  }
  co_await exchange.reply({.status = 204, .prepared = std::string(kPrivate) + sessions_.clear_cookie(request)});
}

}  // namespace proteus::admin
