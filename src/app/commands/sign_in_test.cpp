// The sign-in that `proteus client login` saves, and the redirect of the browser back to it.
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/commands/command.hpp"
#include "app/commands/kept_sign_in.hpp"
#include "app/commands/loopback_redirect.hpp"
#include "net/testing/http_test_server.hpp"
#include "store/testing/test_support.hpp"

namespace proteus::app {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

net::Url server_url(std::string_view text) { return net::Url::parse(text).value(); }

std::string sign_in_path(std::map<std::string, std::string> variables,
                         std::string_view url = "https://mcp.example/mcp") {
  const auto file = SignInFile::of(server_url(url), fixed_environment(std::move(variables)));
  return file ? file->path().string() : "";
}

// UPC-16
TEST(SignInFileTest, IsOneForEachServer) {
  EXPECT_THAT(sign_in_path({{"PROTEUS_SIGN_INS", "/a"}, {"HOME", "/h"}}), StartsWith("/a/mcp.example-"));
  EXPECT_THAT(sign_in_path({{"XDG_CONFIG_HOME", "/x"}, {"HOME", "/h"}}), StartsWith("/x/proteus/sign-ins/"));
  EXPECT_THAT(sign_in_path({{"HOME", "/h"}}), StartsWith("/h/.config/proteus/sign-ins/"));
  EXPECT_EQ(sign_in_path({}), "");
  EXPECT_NE(sign_in_path({{"HOME", "/h"}}), sign_in_path({{"HOME", "/h"}}, "https://mcp.example/other"));
  EXPECT_EQ(sign_in_path({{"HOME", "/h"}}), sign_in_path({{"HOME", "/h"}}, "HTTPS://MCP.example:443/mcp"));
}

TEST(SignInFileTest, IsForItsOwnerAlone) {
  const store::test::TemporaryDirectory folder;
  const auto environment = fixed_environment({{"PROTEUS_SIGN_INS", (folder.path() / "kept").string()}});
  const auto file = SignInFile::of(server_url("https://mcp.example/mcp"), environment).value();
  EXPECT_TRUE(file.load()->empty());
  EXPECT_FALSE(kept_sign_in("https://mcp.example/mcp", environment)->has_value());
  ASSERT_TRUE(file.save(Secret("tokens")));
  EXPECT_EQ(file.load()->reveal(), "tokens");
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(file.path()).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_TRUE(kept_sign_in("https://mcp.example/mcp", environment)->has_value());
  std::filesystem::permissions(file.path(), perms::group_read, std::filesystem::perm_options::add);
  EXPECT_FALSE(file.load()) << "others could have read it";
  EXPECT_TRUE(file.remove());
  EXPECT_TRUE(file.load()->empty());
  EXPECT_TRUE(file.remove()) << "there is none";
}

TEST(SignInFileTest, SaysThatItCannotBeWrittenOrRemoved) {
  const store::test::TemporaryDirectory folder;
  const auto regular = folder.path() / "file";
  std::ofstream(regular).flush();
  const auto environment = fixed_environment({{"PROTEUS_SIGN_INS", (regular / "kept").string()}});
  const auto file = SignInFile::of(server_url("https://mcp.example/mcp"), environment).value();
  EXPECT_FALSE(file.save(Secret("tokens")));
  EXPECT_FALSE(file.remove());
}

TEST(SignInFileTest, LeavesADirectoryOfSomebodyElseAsItIs) {
  using std::filesystem::perms;
  const store::test::TemporaryDirectory folder;
  std::filesystem::permissions(folder.path(), perms::all);
  const auto save = [](const std::filesystem::path& into) {
    const auto environment = fixed_environment({{"PROTEUS_SIGN_INS", into.string()}});
    return SignInFile::of(server_url("https://mcp.example/mcp"), environment)->save(Secret("tokens"));
  };
  ASSERT_TRUE(save(folder.path()));
  EXPECT_EQ(std::filesystem::status(folder.path()).permissions(), perms::all);
  ASSERT_TRUE(save(folder.path() / "new"));
  EXPECT_EQ(std::filesystem::status(folder.path() / "new").permissions(), perms::owner_all);
}

Task<> note_authorization(net::Exchange& exchange, std::string& authorization) {
  authorization = exchange.request().fields().find("Authorization").value_or("none");
  co_await exchange.reply({.status = 404}, "");
}

// UPC-16
TEST(ClientTargetTest, UsesTheSignInUnlessAHeaderAuthenticates) {
  std::string authorization;
  net::TestServer server([&](net::Exchange& exchange) { return note_authorization(exchange, authorization); });
  const std::string url = fmt::format("http://127.0.0.1:{}/mcp", server.port());
  const store::test::TemporaryDirectory folder;
  ::setenv("PROTEUS_SIGN_INS", folder.path().c_str(), 1);
  const auto file = SignInFile::of(server_url(url), process_environment()).value();
  const std::string kept = fmt::format(R"({{"resource":"{}","server":{{"issuer":"http://127.0.0.1:9"}},"client":{{}},)"
                                       R"("tokens":{{"access_token":"kept"}}}})",
                                       url);
  ASSERT_TRUE(file.save(Secret(kept)));
  const auto sent_with = [&](const std::string& header) {
    authorization.clear();
    EXPECT_EQ(run({"client", "list", url, "--header", header}), ExitCode::problems);
    server.settle();
    return authorization;
  };
  EXPECT_EQ(sent_with("X-Session-Id: 7"), "Bearer kept");
  EXPECT_EQ(sent_with("authorization: Basic own"), "Basic own");
  EXPECT_EQ(sent_with("X-Api-Key: own"), "none");
  ::unsetenv("PROTEUS_SIGN_INS");
}

// Revokes a token. Meanwhile a directory takes the place of the file, so that it cannot be removed.
Task<> revoke_and_block(net::Exchange& exchange, const std::filesystem::path& file) {
  std::filesystem::remove(file);
  std::filesystem::create_directories(file / "in the way");
  co_await exchange.reply({}, "");
}

// UPC-16
TEST(LogoutTest, FailsIfTheFileCannotBeRemoved) {
  std::filesystem::path path;
  net::TestServer server([&](net::Exchange& exchange) { return revoke_and_block(exchange, path); });
  const std::string origin = fmt::format("http://127.0.0.1:{}", server.port());
  const store::test::TemporaryDirectory folder;
  ::setenv("PROTEUS_SIGN_INS", folder.path().c_str(), 1);
  const auto file = SignInFile::of(server_url(origin + "/mcp"), process_environment()).value();
  path = file.path();
  const std::string kept = fmt::format(R"({{"resource":"{0}/mcp","client":{{"client_id":"c"}},)"
                                       R"("server":{{"issuer":"{0}","revocation_endpoint":"{0}/revoke"}},)"
                                       R"("tokens":{{"access_token":"kept"}}}})",
                                       origin);
  ASSERT_TRUE(file.save(Secret(kept)));
  ::testing::internal::CaptureStderr();
  const ExitCode code = run({"client", "logout", origin + "/mcp"});
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, ExitCode::problems);
  EXPECT_THAT(said, HasSubstr("proteus: the sign-in could not be removed here: "));
  EXPECT_THAT(said, Not(HasSubstr("could not revoke")));
  ::unsetenv("PROTEUS_SIGN_INS");
}

TEST(LoopbackRedirectTest, HearsOnlyTheStateThatItExpects) {
  LoopbackRedirect redirect;
  ASSERT_TRUE(redirect.listen());
  const auto url = net::Url::parse(redirect.uri()).value();
  const auto get = [&](std::string_view target) {
    net::RawClient client(url.port());
    client.send(fmt::format("GET {} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", target));
    return client.receive().status;
  };
  EXPECT_THAT(get("/callback?state=s&code=c"), Eq(404)) << "before anybody expects it";
  redirect.expect("s");
  for (const auto* const target : {"/", "/callback", "/callback?state=other&code=c", "/callback?code=c",
                                   "/other?state=s&code=c", "/callback?state=s&state=s"})
    EXPECT_THAT(get(target), Eq(404)) << target;
  EXPECT_THAT(get("/callback?state=s&code=c"), Eq(200));
  EXPECT_EQ(redirect.wait(std::chrono::seconds(60)).value(), redirect.uri() + "?state=s&code=c");
  EXPECT_THAT(get("/callback?state=s&code=d"), Eq(404)) << "once";
}

}  // namespace
}  // namespace proteus::app
