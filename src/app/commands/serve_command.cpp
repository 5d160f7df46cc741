// proteus serve: runs the gateway until a signal ends it.
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "app/commands/command.hpp"
#include "app/commands/diagnostics_output.hpp"
#include "app/commands/terminal.hpp"
#include "app/config/file_watch.hpp"
#include "app/config/load.hpp"
#include "app/serving/last_words.hpp"
#include "app/serving/serving.hpp"
#include "base/log/log.hpp"

namespace proteus::app {
namespace {

constexpr std::chrono::seconds kRetry{5};

struct ServeOptions {
  std::string file;
  std::string listen;
  std::string data;

  ConfigFlags flags() const { return ConfigFlags::of(file, data, listen); }
};

// Reacts to signals, and to changes of the configuration and of the TLS files.
class Watch {
 public:
  Watch(Serving& serving, const ServeOptions& options, log::Format format, FileWatch configuration, FileWatch tls)
      : serving_(serving),
        options_(options),
        format_(format),
        configuration_(std::move(configuration)),
        tls_(std::move(tls)),
        signals_(io_, SIGTERM, SIGINT, SIGHUP),
        timer_(io_) {}

  void run() {
    wait_for_signal();
    wait_for_change();
    io_.run();
  }

 private:
  void wait_for_signal() {
    signals_.async_wait([this](const boost::system::error_code& error, int signal) {
      if (error) return;
      if (signal != SIGHUP) return end();
      reload();
      renew_tls();
      wait_for_signal();
    });
  }

  void wait_for_change() {
    timer_.expires_after(std::chrono::seconds(1));
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      if (configuration_.changed()) {
        reload();
      } else if (retry_at_ && *retry_at_ <= std::chrono::steady_clock::now()) {
        judge(serving_.reload_upstreams());
      }
      if (tls_.changed()) renew_tls();
      wait_for_change();
    });
  }

  void reload() {
    LoadedConfig loaded = load_config(options_.flags(), process_environment(), Purpose::serve);
    configuration_ = loaded.watch;
    print_diagnostics(loaded, format_);
    if (!loaded.outcome.config) return log::error("the new configuration is refused; the old one stays");
    const log::Settings lines = loaded.outcome.config->log;
    const auto taken = serving_.reload(std::move(*loaded.outcome.config));
    log::configure(lines);
    format_ = lines.format;
    judge(taken);
  }

  // Tries the upstreams again later if they could not be loaded: the store may be away.
  void judge(const Result<>& taken) {
    retry_at_.reset();
    if (taken) return log::info("the new configuration is in use");
    retry_at_ = std::chrono::steady_clock::now() + kRetry;
    log::error("the new configuration applies, but its upstreams are tried again: {}", taken.error().message());
  }

  void renew_tls() {
    const auto files = serving_.tls_files();
    if (files.empty()) return;
    tls_ = FileWatch(files);
    if (const auto renewed = serving_.renew_tls(); !renewed) {
      return log::error("the certificate on disk is not served, the one before stays: {}", renewed.error().message());
    }
    log::info("the certificate on disk is served from now on");
  }

  void end() {
    log::info("ending: running requests may finish");
    serving_.drain();
    io_.stop();
  }

  Serving& serving_;
  const ServeOptions& options_;
  log::Format format_;  // current format of the log
  FileWatch configuration_;
  FileWatch tls_;
  boost::asio::io_context io_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer timer_;
  std::optional<std::chrono::steady_clock::time_point> retry_at_;  // when to load the upstreams again
};

ExitCode serve(const ServeOptions& options) {
  LoadedConfig loaded = load_config(options.flags(), process_environment(), Purpose::serve, TlsFiles::checked);
  const log::Format format = loaded.outcome.log.format;
  log::configure(loaded.outcome.log);
  print_diagnostics(loaded, format);
  if (!loaded.outcome.config) return ExitCode::usage;
  install_last_words(format);
  if (const auto enough = check_address_space(address_space_limit()); !enough) {
    print_failure(enough.error().message(), format);
    return ExitCode::problems;
  }
  const TlsSettings& tls = loaded.outcome.config->server.tls;
  FileWatch tls_files({tls.certificate, tls.key});
  auto serving = Serving::start(std::move(*loaded.outcome.config), process_environment());
  if (!serving) {
    print_failure(serving.error().message(), format);
    return ExitCode::problems;
  }
  Watch watch(**serving, options, format, loaded.watch, std::move(tls_files));
  fmt::print("listening on {}\n", (*serving)->url());
  if (Terminal::of(STDOUT_FILENO).is_terminal()) {
    if (const std::string link = (*serving)->first_link(); !link.empty())
      fmt::print("add the first upstream, within ten minutes: {}\n", link);
  }
  std::fflush(stdout);
  watch.run();
  return ExitCode::done;
}

}  // namespace

void add_serve_command(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* const command = app.add_subcommand("serve", "Run the gateway");
  command->add_option("--config", options->file, "Configuration file; by default $PROTEUS_CONFIG, then ./proteus.toml")
      ->type_name("FILE");
  command->add_option("--listen", options->listen, "Address to listen on; overrides the file")->type_name("HOST:PORT");
  command->add_option("--data", options->data, "Data directory")->type_name("DIR");
  command->callback([options, &invocation] { invocation.exit_code = serve(*options); });
}

}  // namespace proteus::app
