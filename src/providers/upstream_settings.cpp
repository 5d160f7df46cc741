#include "providers/upstream_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/settings/names.hpp"
#include "net/http/url.hpp"

namespace proteus::providers {
namespace {

using json::duration;
using json::field;
using json::text;

constexpr std::size_t kMaxPrefix = 65;  // a name and a separator
constexpr std::int64_t kMaxFailures = 1'000'000;

Result<> check_prefix(std::string_view prefix) {
  if (prefix.size() > kMaxPrefix || !std::ranges::all_of(prefix, is_name_character)) {
    return std::unexpected(errors::invalid(
        "must be at most 65 characters that a tool's name may have: letters, digits, hyphens, underscores and dots"));
  }
  return {};
}

Result<> check_upstream_name(std::string_view name) {
  auto checked = check_name(name);
  if (checked) return checked;
  return std::unexpected(errors::invalid(checked.error().message() + "; what people call it goes into display_name"));
}

Result<> check_url(std::string_view url) {
  const auto parsed = net::Url::parse(url);
  if (!parsed) return std::unexpected(parsed.error());
  return {};
}

json::Codec<unsigned> failures() { return json::integer<unsigned>(1, kMaxFailures); }

}  // namespace

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::streamable_http: return "streamable-http";
    case Transport::sse: return "sse";
    case Transport::stdio: return "stdio";
  }
  return "stdio";
}

std::string UpstreamSettings::label() const {
  return display_name.empty() ? name : fmt::format("{} ({})", name, display_name);
}

std::optional<Transport> UpstreamSettings::effective_transport() const {
  return command.empty() ? transport : Transport::stdio;
}

std::string UpstreamSettings::effective_prefix() const { return prefix.value_or(name + "_"); }

bool UpstreamSettings::propagates_meta() const {
  return meta_propagation_enabled.value_or(refresh_strategy == RefreshStrategy::direct_proxy);
}

std::string oauth_target(const UpstreamSettings& settings) {
  const auto& oauth = settings.authentication.oauth;
  std::string target =
      fmt::format("{}\n{}\n{}\n{}", settings.url, to_string(oauth.grant), oauth.issuer, oauth.client_id);
  if (oauth.is_automatic()) target += fmt::format("\n{}", fmt::join(oauth.scopes, " "));
  return target;
}

const json::Binding<UpstreamSettings>& upstream_binding() {
  using S = UpstreamSettings;
  static const json::Binding<S> binding{
      field("name", &S::name, text({.check = check_upstream_name, .when_empty = json::WhenEmpty::left_out}),
            "Unique name of the upstream.")
          .by_default("required"),
      field("display_name", &S::display_name,
            text({.check = check_display_name, .when_empty = json::WhenEmpty::left_out}),
            "Name for people, in any script; shown beside the name.")
          .by_default("none"),
      field("url", &S::url, text({.max_bytes = 8192, .check = check_url, .when_empty = json::WhenEmpty::left_out}),
            "URL, `http` or `https`. Give this or `command`.")
          .by_default("none"),
      field("command", &S::command, json::list(text({.max_bytes = 32768}), "strings", {.least = 1, .most = 256}),
            "Program that speaks MCP on its standard streams, and its arguments. Proteus uses no shell.")
          .by_default("none"),
      field("environment", &S::environment, json::map(text({.max_bytes = 32768}), "strings", check_variable_name),
            "Environment variables to set for the program."),
      field("pass_environment", &S::pass_environment,
            json::list(text({.max_bytes = 256, .check = check_variable_name}), "strings"),
            "Environment variables of Proteus to pass to the program. Use this for its secrets."),
      field("transport", &S::transport,
            json::choice<std::optional<Transport>>({{"auto", std::nullopt},
                                                    {"streamable-http", Transport::streamable_http},
                                                    {"sse", Transport::sse},
                                                    {"stdio", Transport::stdio}}),
            "Transport; `auto` tries Streamable HTTP, then the HTTP+SSE transport of 2024-11-05.")
          .by_default("\"stdio\" if `command` is given, else \"auto\""),
      field("era", &S::era,
            json::choice<std::optional<mcp::Era>>(
                {{"auto", std::nullopt}, {"legacy", mcp::Era::legacy}, {"modern", mcp::Era::modern}}),
            "Era of the protocol it speaks; `auto` detects it."),
      field("prefix", &S::prefix, json::optional(text({.check = check_prefix})),
            "Prefix for the names of its tools and prompts; `\"\"` for none.")
          .by_default("\"<name>_\""),
      field("refresh_strategy", &S::refresh_strategy,
            json::choice<RefreshStrategy>(
                {{"cached", RefreshStrategy::cached}, {"direct_proxy", RefreshStrategy::direct_proxy}}),
            "Whether lists come from memory or, for each caller, from the upstream itself."),
      field("meta_propagation_enabled", &S::meta_propagation_enabled, json::optional(json::boolean()),
            "Whether Proteus sends the caller's own `_meta` keys to the upstream.")
          .by_default("true for `direct_proxy`, false for `cached`"),
      field("fail_fast_on_startup", &S::fail_fast_on_startup, json::boolean(),
            "Whether Proteus refuses to start while the upstream is down."),
      field("auto_refresh", &S::auto_refresh, json::boolean(), "Whether Proteus reads its lists on a timer."),
      field("refresh_interval", &S::refresh_interval, duration(),
            "Interval of `auto_refresh`, and of reading lists while Proteus cannot receive announcements."),
      field("event_driven_refresh", &S::event_driven_refresh, json::boolean(),
            "Whether Proteus reads its lists when it announces a change."),
      field("ttl", &S::ttl, duration(json::Zero::allowed),
            "Above zero: the first use after this time reads its lists."),
      field("connect_timeout", &S::connect_timeout, duration(), "Time to establish a connection."),
      field("timeout", &S::timeout, duration(),
            "Timeout for lists, reads and prompts. Reading all pages of all lists may take four times as long, plus "
            "one `timeout` if one list is late."),
      field("call_timeout", &S::call_timeout, duration(),
            "Timeout for `tools/call`; progress extends it up to ten times."),
      field("health_interval", &S::health_interval, duration(), "Time without traffic before Proteus probes it."),
      field("max_consecutive_failures", &S::max_consecutive_failures, failures(),
            "Consecutive failed refreshes that make its state `failed`."),
      field("circuit_failures", &S::circuit_failures, failures(), "Consecutive failed requests that open its circuit."),
      field("circuit_open", &S::circuit_open, duration(),
            "How long an open circuit refuses requests before it lets a probe through; longer if the upstream sends "
            "`Retry-After`."),
      field("max_message_bytes", &S::max_message_bytes, json::size(kibibytes(1), ByteSize(std::uint64_t{1} << 30U)),
            "Maximum size of a message it sends: a program's line, a response body, an event of a stream."),
      field("program_idle", &S::program_idle, duration(),
            "With `command`: a program that runs for one caller ends when the caller has had neither a stream nor a "
            "request for this long. The caller's next request starts it again."),
      field("names", &S::names,
            json::choice<NameStyle>({{"as-is", NameStyle::as_is}, {"portable", NameStyle::portable}}),
            "`portable` offers only names that every known client accepts."),
      field("trust", &S::trust, json::choice<Trust>({{"auto", Trust::automatic}, {"pin", Trust::pin}}),
            "`pin` serves only definitions that a person has ratified."),
      field("anonymous_sessions", &S::anonymous_sessions,
            json::choice<AnonymousSessions>(
                {{"per-call", AnonymousSessions::per_call}, {"shared", AnonymousSessions::shared}}),
            "At a legacy upstream that keeps sessions: whether each tool call of an anonymous modern client gets its "
            "own session, or all share one, including the state that the upstream keeps in it."),
      field("authentication", &S::authentication,
            json::table<Authentication>(authentication_binding(), check_authentication),
            "Credentials that Proteus sends."),
      field("enabled", &S::enabled, json::boolean(),
            "`false` pauses it: Proteus neither connects to it nor lists anything of it."),
      field("tools", &S::tools, tool_tables(), "Rules for some of its tools, prompts and resources."),
  };
  return binding;
}

}  // namespace proteus::providers
