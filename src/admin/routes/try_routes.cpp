#include "admin/routes/try_routes.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/date_time.hpp"

namespace proteus::admin {
namespace {

Result<gateway::Whom> whom_in(const boost::json::value& body) {
  const auto* const object = body.if_object();
  const auto* const as = object != nullptr ? object->if_contains("as") : nullptr;
  const bool plain = object != nullptr && object->size() == (as != nullptr ? 1U : 0U);
  if (!plain || (as != nullptr && !as->is_string() && !as->is_null()))
    return std::unexpected(
        errors::invalid(R"(the body is {"as": NAME}, or {"as": null} for somebody with full access)"));
  return as != nullptr && as->is_string() ? gateway::Whom(std::string(as->get_string())) : std::nullopt;
}

Task<Result<Answer>> issue(gateway::TryTokens& tokens, AdminRequest& request) {
  const auto body = request.body();
  if (!body) co_return std::unexpected(body.error());
  auto whom = whom_in(*body);
  if (!whom) co_return std::unexpected(std::move(whom.error()));
  const auto issued = co_await tokens.issue(std::move(*whom), request.who());
  if (!issued) co_return std::unexpected(issued.error());
  co_return Answer{.status = 201,
                   .body = boost::json::serialize(
                       boost::json::object{{"token", issued->secret.reveal()},
                                           {"principal", issued->principal->name()},
                                           {"expires_at", write_date_time(*issued->principal->expires())}}),
                   .fields = "Cache-Control: no-store\r\n"};
}

}  // namespace

Routes try_routes(gateway::TryTokens& tokens) {
  return {{.method = "POST",
           .path = "/admin/try",
           .answer = "{ token: string; principal: string; expires_at: string }",
           .help = "Makes a token that works for five minutes, with the rules of the principal that the body names and "
                   "none of its credentials.",
           .effect = Effect::changes,
           .handle = [&tokens](AdminRequest& request) { return issue(tokens, request); }}};
}

}  // namespace proteus::admin
