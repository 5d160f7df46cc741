#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <proteus/error.hpp>

#include "base/secret.hpp"
#include "base/task.hpp"
#include "gateway/grants/grant.hpp"
#include "gateway/identity/identities.hpp"
#include "gateway/sign_in/person.hpp"
#include "net/http_server/request.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::gateway {

// Somebody who has shown who they are.
struct Identified {
  Person person;
  std::string name;  // for people
};

// What the connect pages need of the gateway around them. On any worker's thread.
class SiteHost {
 public:
  virtual ~SiteHost() = default;

  // How people reach it, without a slash at the end.
  virtual std::string gateway_url() const = 0;
  // What a token must be for that shows who somebody is.
  virtual std::string resource(Person::Kind kind) const = 0;
  // The identity providers that people can sign in at here.
  virtual std::vector<std::string> issuers() const = 0;
  virtual std::optional<providers::UpstreamSettings> upstream(const std::string& name) const = 0;

  // By a token of the gateway, or by an admin key that may change things.
  virtual std::optional<Identified> by_secret(Person::Kind kind, std::string_view secret) const = 0;
  // By an identity provider's token, through the same rules as any request. What is given outlives it.
  virtual Task<Result<Identified>> by_identity(Person::Kind kind, Secret token, const net::Request& request) = 0;

  // An operator, who may only look or change things as well.
  virtual Task<Result<Identities::Operator>> operator_by_identity(Secret token, const net::Request& request) = 0;

  virtual Task<Result<>> keep(Grant grant, std::string who) = 0;
  virtual std::vector<GrantPointer> grants_of(const Person& person) const = 0;
  virtual Task<Result<>> disconnect(std::string id, std::string who) = 0;
  // For the register of what people have approved.
  virtual Task<> note(std::string who, std::string what, boost::json::object detail) = 0;
};

}  // namespace proteus::gateway
