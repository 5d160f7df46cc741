#include "admin/http/page.hpp"

#include <algorithm>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/format.h>

#include "admin/http/problem.hpp"
#include "base/date_time.hpp"
#include "json/text.hpp"
#include "net/http_server/refused_request.hpp"

namespace proteus::admin {
namespace {

constexpr std::size_t kLongestSecret = 4096;

// No other host, no inline script, nothing that text could become a script by, and no frame around it.
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
  // Each screen has a path, which the page itself reads.
  return at(kRoot);
}

Task<> Page::handle(net::Exchange& exchange) {
  exchange.add_fields(kSafetyFields);
  const net::Request& request = exchange.request();
  const std::string_view path = request.path();
  const bool reads = request.method() == "GET" || request.method() == "HEAD";
  if (path == "/ui/session" && reads) return show_session(exchange);
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
  auto holder = auth_.admit_again(session->name, session->digest);
  if (!holder) return std::unexpected(errors::unauthenticated("the key that was signed in with was taken away"));
  return Entered{std::move(*session), std::move(*holder)};
}

Task<> Page::reply_session(net::Exchange& exchange, const Entered& entered) {
  const std::string body =
      boost::json::serialize(boost::json::object{{"name", entered.holder.name},
                                                 {"role", entered.holder.role == Role::admin ? "admin" : "viewer"},
                                                 {"token", entered.session.token},
                                                 {"until", write_date_time(entered.session.until)},
                                                 {"version", version_}});
  const std::string fields = std::string(kPrivate) + sessions_.set_cookie(exchange.request(), entered.session);
  co_await exchange.reply({.status = 200, .content_type = "application/json", .prepared = fields}, body);
}

Task<> Page::show_session(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  if (auto page = sessions_.check_page(request); !page)
    co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(page.error()));
  auto entered = find(request);
  // A page that is opened first of all asks, too.
  if (!entered) co_return co_await reply_problem(exchange, 401, std::move(entered.error()), std::string(kPrivate));
  entered->session = sessions_.renewed(std::move(entered->session));
  co_await reply_session(exchange, *entered);
}

Result<AdminAuth::KeyHolder> Page::holder_in(std::string_view body) {
  if (body.size() > kLongestSecret) return std::unexpected(errors::too_large("the body", kLongestSecret));
  const auto parsed = json::parse(body);
  const auto* const members = parsed ? parsed->if_object() : nullptr;
  if (members == nullptr || members->size() != 1 || !members->begin()->value().is_string())
    return std::unexpected(errors::invalid(R"(the body must be {"secret": …}, or {"code": …})"));
  const std::string_view given = members->begin()->value().get_string();
  if (members->begin()->key() == "secret") {
    if (auto holder = auth_.admit(given)) return std::move(*holder);
    return std::unexpected(errors::unauthenticated("nobody has a key with this secret"));
  }
  if (members->begin()->key() != "code") return std::unexpected(errors::invalid("the body has no secret and no code"));
  const auto offered = code_.take(given);
  auto holder = offered ? auth_.admit_again(offered->name, offered->digest) : std::nullopt;
  if (holder) return std::move(*holder);
  return std::unexpected(errors::unauthenticated("the code of the link was used before, or its time is over"));
}

Task<> Page::sign_in(net::Exchange& exchange) {
  if (auto page = sessions_.check_page(exchange.request()); !page)
    co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(page.error()));
  if (!co_await exchange.read_body(net::Standing::stranger)) co_return;
  auto holder = holder_in(exchange.request().body());
  if (!holder && holder.error().kind() == ErrorKind::unauthenticated)
    co_return co_await refuse(exchange, RefusalReason::admin_secret, 401, std::move(holder.error()));
  if (!holder) co_return co_await reply_problem(exchange, std::move(holder.error()));
  auto session = sessions_.begin(*holder);
  co_await reply_session(exchange, {std::move(session), std::move(*holder)});
}

Task<> Page::sign_out(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  if (auto page = sessions_.check_page(request); !page)
    co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(page.error()));
  if (const auto session = sessions_.find(request)) {
    if (auto token = PageSessions::check_token(request, *session); !token)
      co_return co_await refuse(exchange, RefusalReason::origin, 403, std::move(token.error()));
    sessions_.end(*session);
  }
  co_await exchange.reply({.status = 204, .prepared = std::string(kPrivate) + sessions_.clear_cookie(request)});
}

}  // namespace proteus::admin
