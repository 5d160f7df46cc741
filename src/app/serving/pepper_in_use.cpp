#include "app/serving/pepper_in_use.hpp"

#include "app/config/load.hpp"

namespace proteus::app {

Result<Config> config_beside(const std::string& file, const std::string& data) {
  LoadedConfig loaded = load_config(ConfigFlags::of(file, data), process_environment(), Purpose::check);
  if (loaded.outcome.config) return std::move(*loaded.outcome.config);
  return std::unexpected(errors::invalid("the configuration has faults; `proteus check` shows them"));
}

Result<store::Pepper> pepper_in_use(const Config& config) {
  if (config.secrets.pepper) return store::Pepper::given(config.secrets.pepper->reveal());
  if (config.cluster.enabled) {
    return std::unexpected(
        errors::invalid("PROTEUS_PEPPER is not set; it must be the pepper of the processes in the [cluster]"));
  }
  return store::Pepper::read(config.data_directory);
}

}  // namespace proteus::app
