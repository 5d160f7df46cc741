#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "auth/fetch/form.hpp"
#include "base/clock.hpp"
#include "gateway/sign_in/connect_site.hpp"
#include "net/testing/http_test_server.hpp"

// For tests: the connect pages with a fake gateway and fake authorization servers.
namespace proteus::gateway {

inline const std::string kProvider = "https://id.example";
inline const std::string kServer = "https://as.example";

// Users "ada" and "bo" have tokens of the same names, "cy" and "di" have accounts at the provider, and "root" is an
// admin key.
class PlayedHost final : public SiteHost {
 public:
  std::string gateway_url() const override { return url; }
  std::string resource(Person::Kind) const override { return url + "/mcp"; }
  std::vector<std::string> issuers() const override { return {kProvider}; }
  std::optional<providers::UpstreamSettings> upstream(const std::string& name) const override {
    if (name != "notes" && name != "chain") return std::nullopt;
    providers::UpstreamSettings settings;
    settings.name = name;
    settings.url = upstream_url;
    if (name == "chain") settings.authentication.oauth.grant = providers::OAuthGrant::identity_assertion;
    return settings;
  }
  std::optional<Identified> by_secret(Person::Kind kind, std::string_view secret) const override {
    const bool is_admin = kind == Person::Kind::admin;
    if (is_admin ? secret != "root" : secret != "ada" && secret != "bo") return std::nullopt;
    return Identified{{kind, std::string(secret)}, std::string(secret)};
  }
  Task<Result<Identified>> by_identity(Person::Kind kind, Secret token, const net::Request&) override {
    if (token.reveal() == "nobody") co_return std::unexpected(errors::forbidden("no rule fits"));
    co_return Identified{{kind, token.reveal(), kProvider}, token.reveal()};
  }
  Task<Result<Identities::Operator>> operator_by_identity(Secret token, const net::Request&) override {
    if (token.reveal() == "nobody") co_return std::unexpected(errors::forbidden("no rule fits"));
    co_return Identities::Operator{token.reveal(), AdminRole::viewer, Clock::Wall::max(), kProvider};
  }
  Task<Result<>> keep(Grant grant, std::string) override {
    kept.push_back(std::make_shared<const Grant>(std::move(grant)));
    co_return Result<>{};
  }
  std::vector<GrantPointer> grants_of(const Person& person) const override {
    std::vector<GrantPointer> own;
    for (const auto& grant : kept) {
      if (grant->owner.value() == person.key) own.push_back(grant);
    }
    return own;
  }
  Task<Result<std::string>> disconnect(std::string id, std::string) override {
    std::erase_if(kept, [&](const auto& grant) { return grant->id == id; });
    co_return not_revoked;
  }
  Task<> note(std::string who, std::string what, boost::json::object) override {
    noted.push_back(who + " " + what);
    co_return;
  }

  std::string url = "http://127.0.0.1:1";
  std::string upstream_url = "https://notes.example/mcp";
  std::vector<GrantPointer> kept;
  std::vector<std::string> noted;
  std::string not_revoked;  // why a token is not revoked; empty if it is
};

// Redeems a code for an access token with the same text.
class PlayedServers final : public Authorizations {
 public:
  explicit PlayedServers(const PlayedHost& host) : host_(host) {}

  Task<Result<PlanPointer>> plan(Ticket ticket, Registration) override {
    ++plans;
    co_return planned(issuer, ticket.scopes.empty() ? scopes : ticket.scopes,
                      target_of(host_.upstream(ticket.upstream).value()));
  }
  Task<Result<PlanPointer>> plan_identity(std::string at, std::string) override { co_return planned(at, {"tools"}); }
  Task<> came_back(PlanPointer, std::string error) override {
    back.push_back(std::move(error));
    co_return;
  }
  Task<Result<auth::oauth::TokenAnswer>> redeem(PlanPointer, auth::oauth::AuthorizationRequest, Secret code) override {
    ++redeemed;
    auth::oauth::TokenAnswer answer;
    answer.id_token = Secret(id_token.empty() ? "the word of the provider about " + code.reveal() : id_token);
    answer.access_token = std::move(code);
    answer.scopes = scopes;
    co_return answer;
  }

  std::string issuer = kServer;
  std::vector<std::string> scopes = {"read"};
  std::string id_token;
  std::vector<std::string> back;
  int redeemed = 0;
  int plans = 0;

 private:
  PlanPointer planned(const std::string& at, std::vector<std::string> wanted, GrantTarget target = {}) const {
    auto plan = std::make_shared<Plan>();
    plan->target = std::move(target);
    plan->discovered.resource = "https://notes.example/mcp";
    plan->discovered.server.issuer = at;
    plan->discovered.server.authorization_endpoint = at + "/authorize";
    plan->discovered.server.token_endpoint = at + "/token";
    plan->discovered.server.code_challenge_methods = {"S256"};
    plan->discovered.server.names_issuer_in_responses = true;
    plan->client = auth::oauth::Client{.issuer = at, .id = "the-client"};
    plan->scopes = std::move(wanted);
    plan->redirect_uri = redirect_uri_for(host_.url, at);
    return plan;
  }
  const PlayedHost& host_;
};

class ConnectTest : public ::testing::Test {
 protected:
  ConnectTest() { host_.url = fmt::format("http://127.0.0.1:{}", server_.port()); }

  // A browser that keeps its cookie and does not follow redirects.
  class TestBrowser {
   public:
    explicit TestBrowser(ConnectTest& test) : test_(test) {}

    net::Answer get(std::string_view url) { return send("GET", url, ""); }
    // Posts the last form of the latest page, with these fields in addition to its own.
    net::Answer post(std::string_view url, std::string_view fields) {
      return send("POST", url, fmt::format("form={}&{}", auth::form_encoded(form_), fields));
    }
    const std::string& cookie() const { return cookie_; }
    void set_cookie(std::string cookie) { cookie_ = std::move(cookie); }
    std::string set_cookie_line;

   private:
    net::Answer send(std::string_view method, std::string_view url, const std::string& body) {
      std::string_view path = url;
      if (path.starts_with("http")) path = path.substr(path.find('/', 8));
      auto client = test_.server_.connect();
      client.send(
          fmt::format("{} {} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {}\r\nContent-Type: "
                      "application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{}",
                      method, path, cookie_, body.size(), body));
      net::Answer answer = client.receive();
      const std::string line = ConnectTest::field_of(answer, "Set-Cookie: ");
      if (!line.empty()) set_cookie_line = line;
      if (!line.empty()) cookie_ = line.substr(0, line.find(';'));
      constexpr std::string_view kField = R"(name="form" value=")";
      if (const auto at = answer.body.rfind(kField); at != std::string::npos) {
        form_ = answer.body.substr(at + kField.size());
        form_.resize(form_.find('"'));
      }
      return answer;
    }

    ConnectTest& test_;
    std::string cookie_;
    std::string form_;
  };

  static std::string field_of(const net::Answer& answer, std::string_view name) {
    const auto at = answer.head.find(name);
    if (at == std::string::npos) return {};
    const auto begin = at + name.size();
    return answer.head.substr(begin, answer.head.find('\r', begin) - begin);
  }
  static std::string location(const net::Answer& answer) { return field_of(answer, "Location: "); }
  static std::string parameter(std::string_view url, std::string_view name) {
    const auto form = auth::read_form(url.substr(url.find('?') + 1));
    return form ? std::string(auth::find_in(*form, name)) : std::string();
  }

  // Returns the link that a person's call would be answered with.
  std::string link_for(Person person, std::string upstream = "notes") {
    auto issued =
        tickets_.issue({.person = std::move(person), .upstream = std::move(upstream), .client = "<b>agent</b>"});
    ticket_ = issued->ticket.id;
    return host_.url + "/connect/" + issued->text;
  }
  std::string link_for_token(const std::string& user) { return link_for({Person::Kind::user, user}); }
  std::string link_for_account(const std::string& user) { return link_for({Person::Kind::user, user, kProvider}); }

  // Returns the URL to which a server sends the browser back.
  std::string callback(std::string_view authorization_url, std::string_view code, std::string issuer = kServer) {
    return fmt::format("{}?state={}&code={}&iss={}", parameter(authorization_url, "redirect_uri"),
                       auth::form_encoded(parameter(authorization_url, "state")), code, auth::form_encoded(issuer));
  }
  // Goes through the pages up to the redirect to the authorization server, as a user with a token. Returns the
  // redirect's URL.
  std::string depart(TestBrowser& browser, const std::string& link, std::string_view token) {
    if (browser.get(link).body.contains(R"(name="secret")")) {
      browser.post(link, fmt::format("secret={}", token));
      browser.get(link);
    }
    return location(browser.post(link, "decision=allow"));
  }
  std::optional<SignInEnd> end() const { return awaited_.find(ticket_); }

  ManualClock clock_;
  SealingKey key_ = SealingKey::random();
  PlayedHost host_;
  PlayedServers servers_{host_};
  Tickets tickets_{key_, clock_};
  AwaitedSignIns awaited_{clock_};
  ConnectSite site_{{host_, servers_, tickets_, awaited_, clock_}, key_};
  net::TestServer server_{[this](net::Exchange& exchange) { return site_.handle(exchange); }};
  std::string ticket_;
};

}  // namespace proteus::gateway
