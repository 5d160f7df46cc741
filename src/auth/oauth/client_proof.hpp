#pragma once

#include <string>
#include <string_view>

#include "auth/fetch/fetch.hpp"
#include "auth/oauth/client.hpp"
#include "base/clock.hpp"

namespace proteus::auth::oauth {

// A POST of a form in which the client says who it is, in a field or in the form. `issuer` is whom an assertion is for.
FetchRequest authenticated_post(net::Url url, std::string form, const Client& client, ClientAuthentication method,
                                std::string_view issuer, Clock::Wall now);

}  // namespace proteus::auth::oauth
