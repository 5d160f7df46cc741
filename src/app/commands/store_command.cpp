// proteus store: copies the records of a gateway between its data directory and PostgreSQL.
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/commands/command.hpp"
#include "app/commands/command_output.hpp"
#include "app/serving/pepper_in_use.hpp"
#include "store/data_directory.hpp"
#include "store/pepper.hpp"
#include "store/postgres/postgres_connection.hpp"
#include "store/postgres/postgres_migrations.hpp"
#include "store/private_file.hpp"
#include "store/sealer.hpp"
#include "store/sql/copy.hpp"
#include "store/sql/rows.hpp"
#include "store/sqlite/sqlite_connection.hpp"
#include "store/sqlite/sqlite_migrations.hpp"

namespace proteus::app {
namespace {

struct CopyOptions {
  std::string file;
  std::string data;
  bool back = false;
};

Result<store::Sealer> sealer_of(const Config& config, const store::DataDirectory& directory) {
  auto pepper = config.secrets.pepper ? store::Pepper::given(config.secrets.pepper->reveal())
                                      : store::Pepper::read(directory.path());
  if (!pepper && pepper.error().kind() == ErrorKind::not_found)
    return std::unexpected(errors::invalid(pepper.error().message() + ", and PROTEUS_PEPPER is not set"));
  if (!pepper) return std::unexpected(std::move(pepper.error()));
  if (!config.secrets.previous_pepper) return store::Sealer(*pepper);
  auto previous = store::Pepper::given(config.secrets.previous_pepper->reveal());
  if (!previous) return std::unexpected(std::move(previous.error()));
  return store::Sealer(*pepper, *previous);
}

Result<store::SqliteConnection> open_embedded(const std::filesystem::path& file, const store::Sealer& sealer) {
  if (auto made = store::create_private(file); !made) return std::unexpected(std::move(made.error()));
  auto connection = store::SqliteConnection::open(file, store::SqliteAccess::read_write, std::chrono::seconds(5));
  if (!connection) return connection;
  if (auto done = store::migrate(*connection); !done) return std::unexpected(std::move(done.error()));
  if (auto done = store::sql::check_seal(*connection, sealer); !done) return std::unexpected(std::move(done.error()));
  return connection;
}

Result<std::unique_ptr<store::PostgresConnection>> open_shared(std::string url, const store::Sealer& sealer) {
  store::PostgresOptions options;
  options.url = Secret(std::move(url));
  // No timeout, because the copy of a whole table may lie between two statements.
  options.idle_timeout = std::chrono::milliseconds(0);
  options.statement_timeout = std::chrono::minutes(10);
  auto connection = store::PostgresConnection::open(options);
  if (!connection) return connection;
  auto ready = store::migrate(**connection, store::postgres_steps(),
                              [&] { return store::sql::check_seal(**connection, sealer); });
  if (!ready) return std::unexpected(std::move(ready.error()));
  return connection;
}

Result<std::vector<store::sql::CopiedTable>> copy_store(const CopyOptions& options, const Config& config,
                                                        const Environment& environment) {
  const std::string& variable = config.cluster.store_env;
  const auto url = environment(variable);
  if (!url || url->empty()) {
    return std::unexpected(errors::invalid(fmt::format("{} must name the database: postgresql://…", variable)));
  }
  // The lock keeps gateways away from the data directory meanwhile.
  const auto directory = store::DataDirectory::open(config.data_directory);
  if (!directory) return std::unexpected(directory.error());
  const auto file = directory->file("proteus.db");
  if (!options.back && !std::filesystem::exists(file))
    return std::unexpected(errors::not_found(fmt::format("there is no {}", file.string())));
  const auto sealer = sealer_of(config, *directory);
  if (!sealer) return std::unexpected(sealer.error());
  // The source comes first: with a wrong pepper it fails, before a new target is sealed with that pepper.
  if (options.back) {
    auto shared = open_shared(*url, *sealer);
    if (!shared) return std::unexpected(std::move(shared.error()));
    auto embedded = open_embedded(file, *sealer);
    if (!embedded) return std::unexpected(std::move(embedded.error()));
    return store::sql::copy(**shared, *embedded);
  }
  auto embedded = open_embedded(file, *sealer);
  if (!embedded) return std::unexpected(std::move(embedded.error()));
  auto shared = open_shared(*url, *sealer);
  if (!shared) return std::unexpected(std::move(shared.error()));
  return store::sql::copy(*embedded, **shared);
}

ExitCode run_copy(const CopyOptions& options) {
  const auto config = config_beside(options.file, options.data);
  if (!config) return refuse(config.error());
  const auto copied = copy_store(options, *config, process_environment());
  if (!copied) return refuse(copied.error());
  for (const auto& table : *copied)
    fmt::print("{} {}\n", table.name, table.rows);
  return ExitCode::done;
}

}  // namespace

void add_store_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<CopyOptions>();
  CLI::App* const command = app.add_subcommand("store", "Move the records of a gateway");
  command->require_subcommand(1);
  CLI::App* const copy = command->add_subcommand(
      "copy",
      "Copy the data directory into the PostgreSQL database that $PROTEUS_STORE, or [cluster] store_env, names");
  copy->add_option("--config", options->file, "Configuration file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  copy->add_option("--data", options->data, "Data directory")->type_name("DIR");
  copy->add_flag("--back", options->back, "From PostgreSQL into the data directory");
  copy->callback([options, &invocation] { invocation.exit_code = run_copy(*options); });
}

}  // namespace proteus::app
