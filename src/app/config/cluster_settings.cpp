#include "app/config/cluster_settings.hpp"

#include "base/settings/environment.hpp"
#include "net/http/url.hpp"

namespace proteus::app {

namespace {

Result<> check_peer_url(std::string_view text) {
  const auto url = net::Url::parse(text);
  if (text.empty() || (url && url->is_https() && url->target() == "/" && !text.contains('?') && !text.contains('#')))
    return {};
  return std::unexpected(errors::invalid("must be a URL such as \"https://10.0.0.7:9443\", without a path"));
}

}  // namespace

const json::Binding<ClusterSettings>& cluster_binding() {
  using json::field;
  using json::text;
  using S = ClusterSettings;
  static const json::Binding<S> binding{
      field(
          "store_env", &S::store_env, text({.max_bytes = 256, .check = check_variable_name}),
          "Environment variable that names the database, `postgresql://…`. It takes the place of the data directory."),
      field("redis_env", &S::redis_env, text({.max_bytes = 256, .check = check_variable_name}),
            "Environment variable that names the Redis, `redis://…` or `rediss://…`, where sessions and events of "
            "legacy clients outlive their process. If it is not set, they end with it."),
      field("name", &S::name, text({.max_bytes = 128}),
            "Name of this process, for people. Empty: the host name and the process id."),
      field("peer_listen", &S::peer_listen, address_or_none(),
            "Address at which other processes reach this one, for sessions and calls that it has; port 0 takes a free "
            "port, `\"\"` is for none. Only processes with the same pepper can connect."),
      field("peer_url", &S::peer_url, text({.max_bytes = 1024, .check = check_peer_url}),
            "How other processes reach that address, `https://host:port`. Empty: the address itself."),
  };
  return binding;
}

}  // namespace proteus::app
