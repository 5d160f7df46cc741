#include "app/config/cluster_settings.hpp"

#include "base/environment.hpp"

namespace proteus::app {

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
            "legacy clients outlive their process. Not set: they do not."),
      field("name", &S::name, text({.max_bytes = 128}),
            "Name of this process, for people. Empty: the host name and the process id."),
  };
  return binding;
}

}  // namespace proteus::app
