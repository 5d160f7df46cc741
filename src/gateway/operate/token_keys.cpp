#include "gateway/operate/token_keys.hpp"

#include "base/date_time.hpp"
#include "base/settings/names.hpp"
#include "catalog/contexts/entry_patterns.hpp"
#include "gateway/callers/disclosure_choice.hpp"

namespace proteus::gateway {
namespace {

using json::field;
using json::text;

constexpr std::int64_t kMostRequests = 1'000'000'000;

// Accepts "*" and names; for contexts also "".
Result<> check_named_upstream(std::string_view name) {
  if (name == "*") return {};
  return check_name(name);
}
Result<> check_named_context(std::string_view name) {
  if (name.empty()) return {};
  return check_named_upstream(name);
}

json::Field<TokenKeys> contexts_field() {
  return field("contexts", &TokenKeys::contexts, json::list(text({.check = check_named_context}), "strings"),
               "Contexts it may use; `*` for all, `\"\"` for plain `/mcp`.");
}
json::Field<TokenKeys> upstreams_field() {
  return field("upstreams", &TokenKeys::upstreams,
               json::list(text({.check = check_named_upstream}), "strings", {.most = 10'000}),
               "Upstreams it may use; `*` for all.");
}
json::Codec<std::vector<std::string>> entry_patterns() {
  return json::list(text({.max_bytes = 1024, .check = catalog::check_entry_pattern}), "patterns");
}
json::Field<TokenKeys> tools_field() {
  return field("tools", &TokenKeys::tools, entry_patterns(), "Tools, prompts and resources it may use.");
}
json::Field<TokenKeys> deny_field() {
  return field("deny", &TokenKeys::deny, entry_patterns(), "Patterns of what it may not use, even if tools allows it.");
}
json::Field<TokenKeys> read_only_field() {
  return field("read_only", &TokenKeys::read_only, json::boolean(),
               "Whether it may use only tools that declare `readOnlyHint`.");
}
json::Field<TokenKeys> requests_field() {
  return field("requests_per_minute", &TokenKeys::requests_per_minute, json::integer<unsigned>(0, kMostRequests),
               "Requests it may send in a minute; 0: no limit of its own.");
}
json::Field<TokenKeys> disclosure_field() {
  return field("disclosure", &TokenKeys::disclosure, disclosure_choice(),
               "What `tools/list` shows it: `all` tools, or `search`: tools to search and call the others with.");
}
template <class Keys>
json::Field<Keys> expires_field() {
  return field("expires", &Keys::expires, text({.max_bytes = 64}),
               "When it ends: a date and time, or a duration from now on.");
}

}  // namespace

PrincipalSettings TokenKeys::settings() const {
  return {.name = name,
          .token = {},
          .contexts = contexts,
          .upstreams = upstreams,
          .entries = {tools, deny, read_only},
          .requests_per_minute = requests_per_minute,
          .disclosure = disclosure};
}

const json::Binding<TokenKeys>& token_binding() {
  static const json::Binding<TokenKeys> binding{
      field("name", &TokenKeys::name, text({.check = check_name}), "Name of the principal that has the token.")
          .required(),
      contexts_field(),
      upstreams_field(),
      tools_field(),
      deny_field(),
      read_only_field(),
      requests_field(),
      disclosure_field(),
      expires_field<TokenKeys>(),
  };
  return binding;
}

const json::Binding<TokenKeys>& token_access_binding() {
  static const json::Binding<TokenKeys> binding{contexts_field(),  upstreams_field(), tools_field(),     deny_field(),
                                                read_only_field(), requests_field(),  disclosure_field()};
  return binding;
}

const json::Binding<RotationKeys>& rotation_binding() {
  static const json::Binding<RotationKeys> binding{
      field("overlap", &RotationKeys::overlap, json::duration(json::Zero::allowed),
            "How long the old secret still works."),
      expires_field<RotationKeys>(),
  };
  return binding;
}

Result<Clock::Wall> read_expiry(std::string_view text, Clock::Wall now) {
  const auto duration = parse_duration(text);
  const auto at = duration ? Result<Clock::Wall>(now + *duration) : parse_date_time(text);
  if (!at) {
    return std::unexpected(
        errors::invalid("must be a date and time such as 2027-01-01T00:00:00Z, or a duration such as 30d"));
  }
  if (*at <= now) return std::unexpected(errors::invalid("must be in the future"));
  return at;
}

}  // namespace proteus::gateway
