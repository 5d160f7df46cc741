#include "catalog/contexts/scopes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proteus::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// OAU-08
TEST(Scopes, AreMissingUnlessGrantedOrImplied) {
  const GrantedScopes granted({"read", "admin"}, {{"admin", {"write"}}, {"write", {"append", "admin"}}, {"x", {"y"}}});
  EXPECT_THAT(missing_scopes({"append", "read", "write"}, granted), IsEmpty());
  EXPECT_THAT(missing_scopes({"delete", "read", "y"}, granted), ElementsAre("delete", "y"));
  EXPECT_THAT(missing_scopes({}, GrantedScopes({})), IsEmpty());
  EXPECT_THAT(granted.written(), ElementsAre("admin", "read")) << "as the token says";
}

// OAU-08: a client requests everything at once, including what was granted.
TEST(Scopes, ToRequestAreThoseNeededAndThoseGranted) {
  const GrantedScopes granted({"read", "offline_access", "not one", "quo\"ted", "zero"});
  EXPECT_THAT(scopes_to_request({"delete", "read"}, granted), ElementsAre("delete", "read", "zero"));
}

// OAU-08
TEST(Scopes, OfAllRulesThatFitAreRequired) {
  const RequiredScopes required({{{"delete_*", "prompt:secret*"}, {"write", "delete"}},
                                 {{"*_all", "resource:file:///secret/*"}, {"all", "write"}}});
  EXPECT_THAT(required.of(Kind::tool, "get"), IsEmpty());
  EXPECT_THAT(required.of(Kind::tool, "delete_all"), ElementsAre("all", "delete", "write"));
  EXPECT_THAT(required.of(Kind::prompt, "secret_one"), ElementsAre("delete", "write"));
  EXPECT_THAT(required.of(Kind::prompt, "delete_one"), IsEmpty());
  EXPECT_THAT(required.of(Kind::resource, "file:///secret/a"), ElementsAre("all", "write"));
  EXPECT_THAT(required.of(Kind::resource, "file:///x/../%73ecret/a"), ElementsAre("all", "write"));
  EXPECT_THAT(required.of(Kind::resource, "file:///x%2Fsecret/a"), ElementsAre("all", "write"))
      << "whatever it may be read as";
  EXPECT_THAT(required.of(Kind::resource, "file:///public/a"), IsEmpty());
  EXPECT_THAT(required.of(Kind::resource_template, "file:///secret/{name}"), ElementsAre("all", "write"));
  const RequiredScopes at_any_port({{{"resource:https://h:*/s*"}, {"read"}}});
  EXPECT_THAT(at_any_port.of(Kind::resource, "https://H:443/s"), ElementsAre("read"));
  EXPECT_THAT(at_any_port.of(Kind::resource, "https://h/s"), ElementsAre("read"));
}

}  // namespace
}  // namespace proteus::catalog
