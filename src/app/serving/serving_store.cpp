// Opens the store of a running gateway.
#include "app/serving/serving.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/sealer.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace proteus::app {

Result<> Serving::open_store() {
  if (!config_.cluster.enabled) {
    auto directory = store::DataDirectory::open(config_.data_directory);
    if (!directory) return std::unexpected(directory.error());
    directory_ = std::move(*directory);
  }
  auto pepper = config_.secrets.pepper ? store::Pepper::given(config_.secrets.pepper->reveal())
                                       : store::Pepper::read_or_create(*directory_);
  if (!pepper) return std::unexpected(pepper.error());
  pepper_ = std::move(*pepper);
  if (config_.secrets.previous_pepper) {
    auto given = store::Pepper::given(config_.secrets.previous_pepper->reveal());
    if (!given) return std::unexpected(given.error());
    previous_pepper_ = std::move(*given);
  }
  store::Sealer sealer(*pepper_, previous_pepper_);
  if (config_.cluster.enabled) {
    store::PostgresOptions options;
    options.url = config_.cluster.store;
    auto opened = store::PostgresStore::open(std::move(options), std::move(sealer));
    if (!opened) return std::unexpected(opened.error());
    store_ = std::move(*opened);
    return {};
  }
  auto opened = store::SqliteStore::open({.file = directory_->file("proteus.db"), .retention = {}, .backlog = {}},
                                         std::move(sealer));
  if (!opened) return std::unexpected(opened.error());
  store_ = std::move(*opened);
  return {};
}

}  // namespace proteus::app
