#pragma once

#include <string>
#include <string_view>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/client.hpp"
#include "base/clock.hpp"

namespace proteus::auth::oauth {

// Returns a POST of a form that authenticates the client, in a header field or in the form. `issuer` is the audience of
// an assertion.
FetchRequest authenticated_post(net::Url url, std::string form, const Client& client, ClientAuthentication method,
                                std::string_view issuer, Clock::Wall now);

}  // namespace proteus::auth::oauth
