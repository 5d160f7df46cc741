#include "app/config/url_check.hpp"

#include "net/http/url.hpp"

namespace proteus::app {

Result<> check_url(std::string_view url) {
  if (url.empty()) return {};
  auto parsed = net::Url::parse(url);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  return {};
}

Result<> check_issuer_url(std::string_view url) {
  if (url.find_first_of("?#") != std::string_view::npos)
    return std::unexpected(errors::invalid("must have neither a query nor a fragment"));
  return check_url(url);
}

}  // namespace proteus::app
