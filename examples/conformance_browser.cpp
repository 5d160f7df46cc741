#include "conformance_browser.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/clock.hpp"
#include "net/http_client/http_client.hpp"

namespace {

using namespace proteus;

Task<Result<std::string>> redirect_of(net::HttpClient& http, net::Url url) {
  const auto response = co_await http.send({.url = url});
  if (!response) co_return std::unexpected(response.error());
  const auto location = response->fields().find("Location");
  if (!location) co_return std::unexpected(errors::protocol("the authorization endpoint did not redirect"));
  co_return std::string(*location);
}

}  // namespace

Result<std::string> visit(const std::string& url) {
  const auto parsed = net::Url::parse(url);
  if (!parsed) return std::unexpected(parsed.error());
  boost::asio::io_context io(1);
  const SystemClock clock;
  net::HttpClient http(io, clock);
  Result<std::string> led_to = std::unexpected(errors::cancelled("the visit"));
  boost::asio::co_spawn(io, redirect_of(http, *parsed),
                        [&](const std::exception_ptr& thrown, Result<std::string> result) {
                          if (!thrown) led_to = std::move(result);
                          http.close();
                        });
  io.run();
  return led_to;
}
