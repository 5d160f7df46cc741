#include "gateway/operate/registration_rules.hpp"

#include <boost/json/parse.hpp>
#include <gmock/gmock.h>

namespace proteus::gateway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

providers::UpstreamEntry entry_of(std::string_view text) {
  auto entry = providers::parse_upstream(boost::json::parse(text), {});
  if (!entry) throw std::runtime_error(entry.error().front().message);
  return std::move(*entry);
}

std::vector<std::string> messages_of(const std::vector<json::Fault>& faults) {
  std::vector<std::string> messages;
  for (const auto& fault : faults)
    messages.push_back(fault.path + ": " + fault.message);
  return messages;
}

const providers::UpstreamEntry kOfTheFile = entry_of(R"({
    "name": "files", "url": "https://files.example/mcp",
    "authentication": {"type": "oauth", "issuer": "https://id.example", "client_id": "proteus",
                       "client_secret_env": "CLIENT_SECRET"}})");
const providers::UpstreamEntry kWithAKey = entry_of(R"({
    "name": "mail", "url": "https://mail.example/mcp",
    "authentication": {"type": "oauth", "issuer": "https://id.example", "client_id": "proteus",
                       "client_key_file": "/keys/one.pem"}})");

// UPC-02: a client's secret goes only to the issuer that the file names it for, whatever the upstream is.
TEST(RegistrationRules, LetAClientSecretGoToItsIssuerAlone) {
  const RegistrationRules rules({}, {kOfTheFile}, {});
  EXPECT_THAT(rules.check(entry_of(R"({"name": "more", "url": "https://more.example/mcp",
      "authentication": {"type": "oauth", "issuer": "https://id.example", "client_id": "proteus",
                         "client_secret_env": "CLIENT_SECRET"}})")),
              IsEmpty());
  EXPECT_THAT(messages_of(rules.check(entry_of(R"({"name": "evil", "url": "https://files.example/mcp",
      "authentication": {"type": "oauth", "issuer": "https://evil.example", "client_id": "proteus",
                         "client_secret_env": "CLIENT_SECRET"}})"))),
              ElementsAre(HasSubstr("client_secret_env")));
  EXPECT_THAT(messages_of(rules.check(entry_of(R"({"name": "evil", "url": "https://files.example/mcp",
      "authentication": {"type": "bearer", "token_env": "CLIENT_SECRET"}})"))),
              ElementsAre(HasSubstr("token_env")));
}

// An upstream that names a file has it read.
TEST(RegistrationRules, LetTheApiNameNoFileThatTheConfigurationDoesNot) {
  const RegistrationRules rules({}, {kWithAKey}, {});
  EXPECT_THAT(rules.check(kWithAKey), IsEmpty());
  EXPECT_THAT(messages_of(rules.check(entry_of(R"({"name": "evil", "url": "https://mail.example/mcp",
      "authentication": {"type": "oauth", "issuer": "https://id.example", "client_id": "proteus",
                         "client_key_file": "/etc/passwd"}})"))),
              ElementsAre(HasSubstr("client_key_file")));
}

}  // namespace
}  // namespace proteus::gateway
