#include <proteus/client.hpp>

#include "client/api/settings.hpp"

namespace proteus::client {

Auth::Auth(OAuth settings) : scheme_(Scheme::oauth), oauth_(std::make_shared<const OAuth>(std::move(settings))) {}

Auth BearerToken::of(std::string token) { return {Auth::Scheme::bearer, "Authorization", {}, {std::move(token), {}}}; }
Auth BearerToken::from_env(std::string variable) {
  return {Auth::Scheme::bearer, "Authorization", {}, {{}, std::move(variable)}};
}
Auth BasicAuth::of(std::string user, std::string password) {
  return {Auth::Scheme::basic, "Authorization", {std::move(user), {}}, {std::move(password), {}}};
}
Auth BasicAuth::from_env(std::string user_variable, std::string password_variable) {
  return {Auth::Scheme::basic, "Authorization", {{}, std::move(user_variable)}, {{}, std::move(password_variable)}};
}
Auth HeaderAuth::of(std::string header, std::string value) {
  return {Auth::Scheme::header, std::move(header), {}, {std::move(value), {}}};
}
Auth HeaderAuth::from_env(std::string header, std::string variable) {
  return {Auth::Scheme::header, std::move(header), {}, {{}, std::move(variable)}};
}

using Builder = McpServer::Builder;

Builder::Builder(std::string url) : settings_(std::make_unique<Settings>()) { settings_->url = std::move(url); }
Builder::Builder(const Builder& other) : settings_(std::make_unique<Settings>(*other.settings_)) {}
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(const Builder& other) {
  *settings_ = *other.settings_;
  return *this;
}
Builder& Builder::operator=(Builder&&) noexcept = default;
Builder::~Builder() = default;

Builder& Builder::command(std::vector<std::string> argv) {
  settings_->command = std::move(argv);
  return *this;
}
Builder& Builder::environment(std::map<std::string, std::string> variables) {
  settings_->environment = std::move(variables);
  return *this;
}
Builder& Builder::working_directory(std::string path) {
  settings_->working_directory = std::move(path);
  return *this;
}
Builder& Builder::auth(Auth credentials) {
  settings_->auth = std::move(credentials);
  return *this;
}
Builder& Builder::header(std::string name, std::string value) {
  settings_->headers.emplace_back(std::move(name), std::move(value));
  return *this;
}
Builder& Builder::ca_file(std::string path) {
  settings_->ca_file = std::move(path);
  return *this;
}
Builder& Builder::timeout(std::chrono::milliseconds duration) {
  settings_->timeout = duration;
  return *this;
}
Builder& Builder::call_timeout(std::chrono::milliseconds duration) {
  settings_->call_timeout = duration;
  return *this;
}
Builder& Builder::connect_timeout(std::chrono::milliseconds duration) {
  settings_->connect_timeout = duration;
  return *this;
}
Builder& Builder::era(Era era) {
  settings_->era = era;
  return *this;
}
Builder& Builder::http_transport(HttpTransport transport) {
  settings_->transport = transport;
  return *this;
}
Builder& Builder::client_info(std::string name, std::string version) {
  settings_->client_name = std::move(name);
  settings_->client_version = std::move(version);
  return *this;
}
Builder& Builder::max_message_bytes(std::size_t bytes) {
  settings_->max_message_bytes = bytes;
  return *this;
}
Builder& Builder::fail_fast_on_startup(bool fail) {
  settings_->fail_fast_on_startup = fail;
  return *this;
}
Builder& Builder::auto_refresh(bool on) {
  settings_->auto_refresh = on;
  return *this;
}
Builder& Builder::refresh_interval(std::chrono::milliseconds interval) {
  settings_->refresh_interval = interval;
  return *this;
}
Builder& Builder::event_driven_refresh(bool on) {
  settings_->event_driven_refresh = on;
  return *this;
}
Builder& Builder::max_consecutive_failures(unsigned failures) {
  settings_->max_consecutive_failures = failures;
  return *this;
}
Builder& Builder::ttl(std::chrono::milliseconds duration) {
  settings_->ttl = duration;
  return *this;
}
Builder& Builder::health_interval(std::chrono::milliseconds interval) {
  settings_->health_interval = interval;
  return *this;
}
Builder& Builder::circuit_failures(unsigned failures) {
  settings_->circuit_failures = failures;
  return *this;
}
Builder& Builder::circuit_open(std::chrono::milliseconds duration) {
  settings_->circuit_open = duration;
  return *this;
}
Builder& Builder::list_meta(boost::json::object members) {
  settings_->list_meta = std::move(members);
  return *this;
}
Builder& Builder::on_elicitation(ElicitationHandler handler) {
  settings_->on_elicitation = std::move(handler);
  return *this;
}
Builder& Builder::on_url_elicitation(ElicitationHandler handler) {
  settings_->on_url_elicitation = std::move(handler);
  return *this;
}
Builder& Builder::on_sampling(SamplingHandler handler) {
  settings_->on_sampling = std::move(handler);
  return *this;
}
Builder& Builder::on_roots(RootsHandler handler) {
  settings_->on_roots = std::move(handler);
  return *this;
}
Builder& Builder::on_log(std::function<void(const LogMessage&)> handler) {
  settings_->on_log = std::move(handler);
  return *this;
}

}  // namespace proteus::client
