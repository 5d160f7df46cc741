#include "gateway/operate/egress.hpp"

#include <memory>

namespace proteus::gateway {

Egress::Egress(const net::EgressSettings& settings)
    : rules_(std::make_shared<const net::EgressRules>(settings)), trusted_(std::make_shared<const Origins>()) {}

void Egress::set_rules(const net::EgressSettings& settings) {
  rules_.set(std::make_shared<const net::EgressRules>(settings));
  ++version_;
}

void Egress::trust(Origins origins) {
  if (*trusted_.get() == origins) return;
  trusted_.set(std::make_shared<const Origins>(std::move(origins)));
  ++version_;
}

Result<> Egress::check(const net::Url& url) const {
  if (trusted_.get()->contains(url.origin())) return {};
  return rules_.get()->check(url);
}

Result<> Egress::check(const net::Url& url, const boost::asio::ip::address& address) const {
  if (trusted_.get()->contains(url.origin())) return {};
  return rules_.get()->check(url, address);
}

net::AddressFilter Egress::filter() const {
  return [this](const net::Url& url, const boost::asio::ip::address& address) { return check(url, address); };
}

Result<> Egress::check_strictly(const net::Url& url) const { return rules_.get()->check(url); }

net::AddressFilter Egress::strict_filter() const {
  return [this](const net::Url& url, const boost::asio::ip::address& address) {
    return rules_.get()->check(url, address);
  };
}

}  // namespace proteus::gateway
