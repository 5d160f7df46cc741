#include "auth/oauth/server_error.hpp"

#include <fmt/format.h>

#include "auth/tokens/document.hpp"
#include "base/log/log.hpp"

namespace proteus::auth::oauth {
namespace {

struct Refused {
  std::string code;
  std::string description;
};

Refused read_refused(const FetchAnswer& answer) {
  Refused refused;
  const auto document = DocumentReader::parse(answer.body, FetchRequest::kMaxAnswer, "an error");
  if (!document) return refused;
  static_cast<void>(document->text("error", refused.code));
  static_cast<void>(document->text("error_description", refused.description));
  return refused;
}

}  // namespace

Error server_error(std::string_view code, std::string_view description) {
  std::string message = fmt::format("the authorization server refused: {}", log::printable(code, 64));
  if (!description.empty()) message += fmt::format(" ({})", log::printable(description, 200));
  if (code == "invalid_grant") return errors::unauthenticated(std::move(message));
  if (code == "invalid_client") return errors::not_found(std::move(message));
  if (code == "temporarily_unavailable" || code == "server_error") return errors::unavailable(std::move(message));
  return errors::forbidden(std::move(message));
}

Error server_error(const FetchAnswer& answer) {
  if (answer.status >= 500 || answer.status == 429)
    return errors::unavailable(fmt::format("the authorization server answered {}", answer.status));
  const Refused refused = read_refused(answer);
  if (refused.code.empty())
    return errors::protocol(fmt::format("the authorization server answered {}, without saying why", answer.status));
  return server_error(refused.code, refused.description);
}

std::string server_error_code(const FetchAnswer& answer) { return read_refused(answer).code; }

}  // namespace proteus::auth::oauth
