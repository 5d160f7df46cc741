#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/gateway.hpp"
#include "gateway/grants/vault.hpp"
#include "gateway/sign_in/site_host.hpp"
#include "store/store.hpp"

namespace proteus::gateway {

// The connect pages' view of the gateway.
class GatewaySiteHost final : public SiteHost {
 public:
  // Returns the name of an admin key that may change things; nothing for any other secret. Called on any thread.
  using FindOperator = std::function<std::optional<std::string>(std::string_view secret)>;
  // All references must outlive this object.
  struct Dependencies {
    Gateway& gateway;
    Vault& vault;
    store::Store& store;
    const Clock& clock;
    FindOperator find_operator;
  };
  explicit GatewaySiteHost(Dependencies dependencies) : dependencies_(std::move(dependencies)) {}

  std::string gateway_url() const override;
  std::string resource(Person::Kind kind) const override;
  std::vector<std::string> issuers() const override;
  std::optional<providers::UpstreamSettings> upstream(const std::string& name) const override;
  std::optional<Identified> by_secret(Person::Kind kind, std::string_view secret) const override;
  Task<Result<Identified>> by_identity(Person::Kind kind, Secret token, const net::Request& request) override;
  Task<Result<Identities::Operator>> operator_by_identity(Secret token, const net::Request& request) override;
  Task<Result<>> keep(Grant grant, std::string who) override;
  std::vector<GrantPointer> grants_of(const Person& person) const override;
  Task<Result<std::string>> disconnect(std::string id, std::string who) override;
  Task<> note(std::string who, std::string what, boost::json::object detail) override;

 private:
  Task<> read_lists(const std::string& upstream);

  const Dependencies dependencies_;
};

}  // namespace proteus::gateway
