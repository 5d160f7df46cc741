#include "net/http_server/request.hpp"

#include "net/http_server/trusted_proxies.hpp"

namespace proteus::net {
namespace {

// Returns the position after "scheme://authority"; npos if the target does not begin with that.
std::size_t path_of_absolute_form(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos ||
      !(same_field_name(target.substr(0, scheme), "http") || same_field_name(target.substr(0, scheme), "https"))) {
    return std::string_view::npos;
  }
  const std::size_t authority = scheme + 3;
  const std::size_t end = std::min(target.find_first_of("/?", authority), target.size());
  return end == authority ? std::string_view::npos : end;
}

}  // namespace

void Request::clear() {
  method_ = target_ = path_ = query_ = body_ = {};
  fields_.clear();
}

std::string_view Request::client() const {
  if (proxies_ == nullptr) return peer_->address;
  client_ = proxies_->client_of(peer_->address, fields_);
  return client_;
}

bool Request::set_target(std::string_view target) {
  target_ = target;
  std::string_view rest = target;
  if (target == "*") {
    rest = {};
  } else if (!target.starts_with('/')) {
    const std::size_t path = path_of_absolute_form(target);
    if (path == std::string_view::npos) return false;
    rest.remove_prefix(path);
  }
  std::size_t mark = 0;  // targets are short
  while (mark < rest.size() && rest[mark] != '?')
    ++mark;
  path_ = rest.substr(0, mark);
  query_ = rest.substr(std::min(mark + 1, rest.size()));
  if (path_.empty() && target != "*") path_ = "/";
  return true;
}

}  // namespace proteus::net
