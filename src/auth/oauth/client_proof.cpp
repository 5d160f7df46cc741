#include "auth/oauth/client_proof.hpp"

#include <utility>

#include "auth/fetch/form.hpp"
#include "base/secrets/sealing.hpp"
#include "base/text/base64.hpp"

namespace proteus::auth::oauth {
namespace {

constexpr std::chrono::seconds kAssertionLife{60};

// RFC 7523, section 3. The audience is the issuer alone, so that no other server can use the assertion.
std::string client_assertion(const Client& client, std::string_view issuer, Clock::Wall now) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch());
  boost::json::object header = {{"typ", "JWT"}};
  if (!client.key_id.empty()) header["kid"] = client.key_id;
  return client.key->sign_token(std::move(header), {{"iss", client.id},
                                                    {"sub", client.id},
                                                    {"aud", issuer},
                                                    {"jti", base64_encode(random_bytes(16), Base64::url)},
                                                    {"iat", seconds.count()},
                                                    {"exp", (seconds + kAssertionLife).count()}});
}

}  // namespace

FetchRequest authenticated_post(net::Url url, std::string form, const Client& client, ClientAuthentication method,
                                std::string_view issuer, Clock::Wall now) {
  FetchRequest request{.url = std::move(url), .method = "POST"};
  request.fields.emplace_back("Content-Type", Secret("application/x-www-form-urlencoded"));
  switch (method) {
    case ClientAuthentication::secret_basic:
      request.fields.emplace_back("Authorization", Secret(basic_credentials(client.id, client.secret)));
      break;
    case ClientAuthentication::secret_post:
      append_form(form, "client_id", client.id);
      append_form(form, "client_secret", client.secret.reveal());
      break;
    case ClientAuthentication::private_key:
      append_form(form, "client_id", client.id);
      append_form(form, "client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
      append_form(form, "client_assertion", client_assertion(client, issuer, now));
      break;
    case ClientAuthentication::none: append_form(form, "client_id", client.id); break;
  }
  request.body = Secret(std::move(form));
  return request;
}

}  // namespace proteus::auth::oauth
