#include "gateway/sign_in/gateway_site_host.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log/log.hpp"
#include "gateway/callers/audit_entry.hpp"

namespace proteus::gateway {

namespace asio = boost::asio;

std::string GatewaySiteHost::gateway_url() const { return dependencies_.gateway.identities().gateway_url(); }

std::string GatewaySiteHost::resource(Person::Kind kind) const {
  const Resources resources = dependencies_.gateway.identities().resources();
  return kind == Person::Kind::user ? resources.endpoint("") : resources.admin();
}

std::vector<std::string> GatewaySiteHost::issuers() const {
  return dependencies_.gateway.identities().sign_in_issuers();
}

std::optional<providers::UpstreamSettings> GatewaySiteHost::upstream(const std::string& name) const {
  const auto table = dependencies_.gateway.upstreams();
  const ServedUpstream* const served = table->find(name);
  if (served == nullptr) return std::nullopt;
  return (*served)->settings();
}

std::optional<Identified> GatewaySiteHost::by_secret(Person::Kind kind, std::string_view secret) const {
  if (kind == Person::Kind::admin) {
    auto name = dependencies_.find_operator(secret);
    if (!name) return std::nullopt;
    return Identified{{kind, *name}, *name};
  }
  const auto principal = dependencies_.gateway.holder_of(secret);
  const auto owner = principal ? owner_of(*principal) : std::nullopt;
  if (!owner) return std::nullopt;
  return Identified{{kind, owner->value()}, principal->name()};
}

Task<Result<Identified>> GatewaySiteHost::by_identity(Person::Kind kind, Secret token, const net::Request& request) {
  Identities& identities = dependencies_.gateway.identities();
  if (kind == Person::Kind::admin) {
    auto found = co_await identities.find_operator(std::move(token), request);
    if (!found) co_return std::unexpected(std::move(found.error().error));
    if (found->role != AdminRole::admin)
      co_return std::unexpected(errors::forbidden("This account may only look at this gateway"));
    co_return Identified{{kind, found->name, found->issuer}, found->name};
  }
  const auto found = co_await identities.find_person(std::move(token), request);
  if (!found) co_return std::unexpected(found.error().error);
  const auto owner = owner_of(**found);
  if (!owner) co_return std::unexpected(errors::forbidden("This account cannot connect anything"));
  co_return Identified{{kind, owner->value(), issuer_of(**found)}, (*found)->name()};
}

Task<Result<Identities::Operator>> GatewaySiteHost::operator_by_identity(Secret token, const net::Request& request) {
  auto found = co_await dependencies_.gateway.identities().find_operator(std::move(token), request);
  if (!found) co_return std::unexpected(std::move(found.error().error));
  co_return std::move(*found);
}

Task<Result<>> GatewaySiteHost::keep(Grant grant, std::string who) {
  const auto kept = co_await asio::co_spawn(
      dependencies_.gateway.control(), dependencies_.vault.put(std::move(grant), std::move(who)), asio::use_awaitable);
  if (!kept) co_return std::unexpected(kept.error());
  if ((*kept)->owner == gateway_owner()) co_await read_lists((*kept)->upstream);
  co_return Result<>{};
}

// Reads the upstream's lists, so that what the page calls connected can be used at once.
Task<> GatewaySiteHost::read_lists(const std::string& upstream) {
  const auto table = dependencies_.gateway.upstreams();
  const ServedUpstream* const served = table->find(upstream);
  if (served != nullptr) (void)co_await (*served)->refresh();
}

std::vector<GrantPointer> GatewaySiteHost::grants_of(const Person& person) const {
  if (person.kind != Person::Kind::user) return {};
  return dependencies_.vault.all_of(GrantOwner(person.key));
}

Task<Result<std::string>> GatewaySiteHost::disconnect(std::string id, std::string who) {
  auto done =
      co_await asio::co_spawn(dependencies_.gateway.control(),
                              dependencies_.vault.disconnect(std::move(id), std::move(who)), asio::use_awaitable);
  if (!done) co_return std::unexpected(done.error());
  co_return done->revoked ? std::string() : std::move(done->why_not);
}

Task<> GatewaySiteHost::note(std::string who, std::string what, boost::json::object detail) {
  const auto noted = co_await dependencies_.store.append(
      audit_entry(dependencies_.clock, std::move(who), std::move(what), detail).record);
  if (!noted) log::warning("what somebody approved is not recorded: {}", noted.error().message());
}

}  // namespace proteus::gateway
