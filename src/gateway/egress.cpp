#include "gateway/egress.hpp"

#include <memory>

namespace proteus::gateway {

Egress::Egress(const net::EgressSettings& settings)
    : rules_(std::make_shared<const net::EgressRules>(settings)),
      trusted_(std::make_shared<const std::set<std::string, std::less<>>>()) {}

void Egress::set_rules(const net::EgressSettings& settings) {
  rules_.set(std::make_shared<const net::EgressRules>(settings));
  ++version_;
}

void Egress::trust(std::set<std::string, std::less<>> hosts) {
  if (*trusted_.get() == hosts) return;
  trusted_.set(std::make_shared<const std::set<std::string, std::less<>>>(std::move(hosts)));
  ++version_;
}

Result<> Egress::check(const net::Url& url) const {
  if (trusted_.get()->contains(url.host())) return {};
  return rules_.get()->check(url);
}

Result<> Egress::check(std::string_view host, const boost::asio::ip::address& address) const {
  if (trusted_.get()->contains(host)) return {};
  return rules_.get()->check(host, address);
}

net::AddressFilter Egress::filter() const {
  return [this](std::string_view host, const boost::asio::ip::address& address) { return check(host, address); };
}

Result<> Egress::check_strictly(const net::Url& url) const { return rules_.get()->check(url); }

net::AddressFilter Egress::strict_filter() const {
  return [this](std::string_view host, const boost::asio::ip::address& address) {
    return rules_.get()->check(host, address);
  };
}

}  // namespace proteus::gateway
