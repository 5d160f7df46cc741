#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>
#include <proteus/error.hpp>

#include "base/secrets/secret.hpp"
#include "base/tasks/task.hpp"
#include "gateway/grants/grant.hpp"
#include "gateway/identity/identities.hpp"
#include "gateway/sign_in/person.hpp"
#include "net/http_server/request.hpp"
#include "providers/upstream_settings.hpp"

namespace proteus::gateway {

// Somebody who has been identified.
struct Identified {
  Person person;
  std::string name;  // for display
};

// What the connect pages need from the gateway. May be used on any worker's thread.
class SiteHost {
 public:
  virtual ~SiteHost() = default;

  // Returns the URL by which people reach the gateway, without a slash at its end.
  virtual std::string gateway_url() const = 0;
  // Returns the resource that a token must be for to identify this kind of person.
  virtual std::string resource(Person::Kind kind) const = 0;
  // Returns the identity providers at which people can sign in here.
  virtual std::vector<std::string> issuers() const = 0;
  virtual std::optional<providers::UpstreamSettings> upstream(const std::string& name) const = 0;

  // Identifies a person by a token of the gateway, or by an admin key that may change things. Returns nothing for any
  // other secret.
  virtual std::optional<Identified> by_secret(Person::Kind kind, std::string_view secret) const = 0;
  // Identifies a person by an identity provider's token, subject to the same rules as any request. The request must
  // outlive the task.
  virtual Task<Result<Identified>> by_identity(Person::Kind kind, Secret token, const net::Request& request) = 0;

  // Identifies an operator, who may be allowed only to look.
  virtual Task<Result<Identities::Operator>> operator_by_identity(Secret token, const net::Request& request) = 0;

  virtual Task<Result<>> keep(Grant grant, std::string who) = 0;
  virtual std::vector<GrantPointer> grants_of(const Person& person) const = 0;
  // Returns why the authorization server did not revoke the token; an empty text if it did.
  virtual Task<Result<std::string>> disconnect(std::string id, std::string who) = 0;
  // Writes an audit entry about what a person has approved.
  virtual Task<> note(std::string who, std::string what, boost::json::object detail) = 0;
};

}  // namespace proteus::gateway
