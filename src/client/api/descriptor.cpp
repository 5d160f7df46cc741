// The settings of a server as JSON. Keys that the gateway's upstreams have, too, have the same names.
#include <algorithm>

#include "base/secrets/secret.hpp"
#include "client/api/settings.hpp"
#include "json/binding.hpp"
#include "json/fault_error.hpp"

namespace proteus::client {
namespace {

// Credentials without their secrets.
struct Credentials {
  Auth::Scheme type = Auth::Scheme::none;
  std::string header;
  std::string user;
  std::string user_env;
  std::string secret_env;
};

json::Codec<std::string> optional_text() {
  return json::text({.max_bytes = 4096, .check = {}, .when_empty = json::WhenEmpty::left_out});
}

const json::Binding<Credentials>& credentials_binding() {
  using C = Credentials;
  using json::field;
  static const json::Binding<C> binding{
      field("type", &C::type,
            json::choice<Auth::Scheme>({{"none", Auth::Scheme::none},
                                        {"bearer", Auth::Scheme::bearer},
                                        {"basic", Auth::Scheme::basic},
                                        {"header", Auth::Scheme::header},
                                        {"oauth", Auth::Scheme::oauth}}),
            "How credentials are sent."),
      field("header", &C::header, optional_text(), "The header's name."),
      field("user", &C::user, optional_text(), "The user's name."),
      field("user_env", &C::user_env, optional_text(), "The variable with the user's name."),
      field("secret_env", &C::secret_env, optional_text(), "The variable with the secret."),
  };
  return binding;
}

json::Codec<Auth> credentials() {
  return {.type = "table",
          .read =
              [](const boost::json::value& value, Auth& onto, const json::Place& place) {
                Credentials read;
                credentials_binding().read(value, read, place);
                onto = Auth(read.type, read.header, {read.user, read.user_env}, {{}, read.secret_env});
              },
          .write = [](const Auth& auth, json::Part part) -> std::optional<boost::json::value> {
            if (part == json::Part::secrets || auth.scheme() == Auth::Scheme::none) return std::nullopt;
            return credentials_binding().write(
                {auth.scheme(), auth.name(), auth.user().text, auth.user().variable, auth.secret().variable});
          },
          .keys = {}};
}

json::Codec<std::vector<Header>> plain_headers() {
  return {.type = "table of texts",
          .read =
              [](const boost::json::value& value, std::vector<Header>& onto, const json::Place& place) {
                const auto* object = value.if_object();
                if (object == nullptr) return json::wrong_kind(place, "a table of texts", value);
                for (const auto& member : *object) {
                  const auto* text = member.value().if_string();
                  if (text == nullptr) {
                    json::wrong_kind(place.member(member.key()), "a text", member.value());
                  } else {
                    onto.emplace_back(member.key(), *text);
                  }
                }
              },
          .write = [](const std::vector<Header>& given, json::Part part) -> std::optional<boost::json::value> {
            boost::json::object out;
            for (const auto& [name, value] : given) {
              // A header that must not be logged must not be here, either.
              if (!is_secret_header(name)) out.emplace(name, value);
            }
            if (part == json::Part::secrets || out.empty()) return std::nullopt;
            return out;
          },
          .keys = {}};
}

json::Codec<std::optional<Era>> known_era() {
  return json::optional(json::choice<Era>({{"legacy", Era::legacy}, {"modern", Era::modern}}));
}

json::Codec<HttpTransport> transport_word() {
  return json::choice<HttpTransport>({{"auto", HttpTransport::automatic},
                                      {"streamable-http", HttpTransport::streamable_http},
                                      {"sse", HttpTransport::old_sse}});
}

}  // namespace

const json::Binding<McpServer::Settings>& McpServer::Settings::binding() {
  using S = Settings;
  using json::duration;
  using json::field;
  static const json::Binding<S> made{
      field("url", &S::url, optional_text(), "Where it is."),
      field("command", &S::command, json::list(json::text(), "texts", {.least = 1}), "The program that is run."),
      field("pass_environment", &S::pass_environment, json::list(json::text(), "names", {.least = 1}),
            "Variables that the program gets."),
      field("working_directory", &S::working_directory, optional_text(), "Where the program runs."),
      field("ca_file", &S::ca_file, optional_text(), "Certificate authorities."),
      field("authentication", &S::auth, credentials(), "Credentials."),
      field("headers", &S::headers, plain_headers(), "More headers."),
      field("timeout", &S::timeout, duration(), "Of everything but calls."),
      field("call_timeout", &S::call_timeout, duration(), "Of calls."),
      field("connect_timeout", &S::connect_timeout, duration(), "Of connecting."),
      field("era", &S::era, known_era(), "The era, where it is not to be found out."),
      field("transport", &S::transport, transport_word(), "The transport."),
      field("client_name", &S::client_name, json::text(), "What the server is told."),
      field("client_version", &S::client_version, json::text(), "What the server is told."),
      field("max_message_bytes", &S::max_message_bytes, json::integer<std::size_t>(1024, std::int64_t{1} << 40U),
            "Of one message."),
      field("fail_fast_on_startup", &S::fail_fast_on_startup, json::boolean(), "Whether it must be there."),
      field("auto_refresh", &S::auto_refresh, json::boolean(), "Whether it is read on a timer."),
      field("refresh_interval", &S::refresh_interval, duration(), "How often."),
      field("event_driven_refresh", &S::event_driven_refresh, json::boolean(), "Whether announcements are followed."),
      field("max_consecutive_failures", &S::max_consecutive_failures, json::integer<unsigned>(1, 1'000'000),
            "Readings that fail before it has failed."),
      field("ttl", &S::ttl, duration(json::Zero::allowed), "Above zero: how long lists are used before they are read."),
      field("health_interval", &S::health_interval, duration(), "Time without traffic before the client probes it."),
      field("circuit_failures", &S::circuit_failures, json::integer<unsigned>(1, 1'000'000),
            "Consecutive failures that open the circuit."),
      field("circuit_open", &S::circuit_open, duration(), "How long an open circuit refuses requests."),
  };
  return made;
}

boost::json::object McpServer::Settings::descriptor() const {
  Settings shown = *this;
  for (const auto& [name, value] : environment) {
    if (std::ranges::find(shown.pass_environment, name) == shown.pass_environment.end()) {
      shown.pass_environment.push_back(name);
    }
  }
  return binding().write(shown);
}

Result<McpServer::Settings> McpServer::Settings::from_descriptor(const boost::json::object& descriptor) {
  Settings settings;
  json::Faults faults;
  binding().read(descriptor, settings, json::Place(faults));
  if (!faults.all().empty()) return std::unexpected(errors::faults("the descriptor", faults.all()));
  return settings;
}

}  // namespace proteus::client
