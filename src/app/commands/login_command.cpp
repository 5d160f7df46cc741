// proteus client login | logout: a person's sign-in at a server, for all commands of `proteus client`.
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include "app/commands/client_target.hpp"
#include "app/commands/command.hpp"
#include "app/commands/loopback_redirect.hpp"
#include "app/commands/sign_in_file.hpp"
#include "app/commands/terminal.hpp"
#include "auth/fetch/form.hpp"
#include "base/log/log.hpp"

namespace proteus::app {
namespace {

constexpr std::chrono::minutes kSignInTime{10};

struct LoginOptions {
  ClientTarget target;
  client::OAuth oauth;
  std::string secret_variable;
  bool prints_only = false;  // open no browser
};

ExitCode fail(ExitCode code, const Error& error) {
  fmt::print(stderr, "proteus: {}\n", one_line(error.message()));
  return code;
}

// Uses no shell, and keeps the browser's output off the terminal.
void open_browser(const std::string& url) {
  std::string program = "xdg-open";
  std::string argument = url;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  static_cast<void>(posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ));
  posix_spawn_file_actions_destroy(&actions);
}

std::string state_in(const std::string& url) {
  const auto form = auth::read_form(std::string_view(url).substr(std::min(url.find('?'), url.size() - 1) + 1));
  return form ? std::string(auth::find_in(*form, "state")) : std::string();
}

Result<SignInFile> file_of(const ClientTarget& target) {
  const auto url = net::Url::parse(target.url);
  if (!url) return std::unexpected(errors::invalid("a URL is needed: " + url.error().message()));
  return SignInFile::of(*url, process_environment());
}

ExitCode login(LoginOptions& options) {
  const auto file = file_of(options.target);
  if (!file) return fail(ExitCode::usage, file.error());
  options.target.uses_sign_in = false;
  auto builder = options.target.builder();
  if (!builder) return fail(ExitCode::usage, builder.error());
  LoopbackRedirect redirect;
  if (const auto listening = redirect.listen(); !listening) return fail(ExitCode::problems, listening.error());
  client::OAuth oauth = options.oauth;
  bool is_signed_in = false;
  Result<> saved;
  oauth.client.secret.variable = options.secret_variable;
  oauth.redirect_uri = redirect.uri();
  oauth.authorize = [&](const std::string& url) -> Result<std::string> {
    redirect.expect(state_in(url));
    fmt::print(stderr, "Sign in with your browser:\n  {}\n", one_line(url));
    if (!options.prints_only) open_browser(url);
    return redirect.wait(kSignInTime);
  };
  oauth.save = [&](const std::string& kept) {
    is_signed_in = true;
    saved = file->save(Secret(kept));
  };
  builder->auth(std::move(oauth)).timeout(kSignInTime);
  auto server = builder->build();
  const auto opened = server.open();
  server.close();
  if (!saved) fail(ExitCode::problems, std::move(saved.error()).within("the sign-in could not be kept"));
  if (!opened) fail(ExitCode::problems, opened.error());
  if (!saved || !opened) return ExitCode::problems;
  fmt::print(stderr, "{}\n", is_signed_in ? "Signed in." : "The server asks for no sign-in.");
  return ExitCode::done;
}

ExitCode logout(const LoginOptions& options) {
  const auto file = file_of(options.target);
  if (!file) return fail(ExitCode::usage, file.error());
  const auto kept = file->load();
  if (!kept) return fail(ExitCode::problems, kept.error());
  if (kept->empty()) {
    fmt::print(stderr, "There is no sign-in at this server.\n");
    return ExitCode::done;
  }
  auto ended = client::end_sign_in(kept->reveal(), options.target.ca_file);
  auto removed = file->remove();
  if (!removed) fail(ExitCode::problems, std::move(removed.error()).within("the sign-in could not be removed here"));
  if (!ended) fail(ExitCode::problems, std::move(ended.error()).within("the server could not revoke the sign-in"));
  return removed && ended ? ExitCode::done : ExitCode::problems;
}

CLI::App& add(CLI::App& client, const std::string& name, const std::string& description, LoginOptions& options) {
  CLI::App* const command = client.add_subcommand(name, description);
  command->add_option("URL", options.target.url, "URL of the server, http or https")->required();
  command->add_option("--ca-file", options.target.ca_file, "Trust these certificate authorities (PEM)")
      ->check(CLI::ExistingFile);
  return *command;
}

}  // namespace

void add_login_commands(CLI::App& client, Invocation& invocation) {
  const auto options = std::make_shared<LoginOptions>();
  CLI::App& in = add(client, "login", "Sign in at a server with your browser, for the other commands", *options);
  in.add_option("--scope", options->oauth.scopes,
                "Request this scope instead of those that the server names; may be repeated")
      ->allow_extra_args(false);
  in.add_option("--client-id", options->oauth.client.id, "A client that is registered already")->type_name("ID");
  in.add_option("--client-secret-env", options->secret_variable, "The variable with its secret")
      ->type_name("VARIABLE")
      ->needs("--client-id");
  in.add_option("--issuer", options->oauth.client.issuer, "The only authorization server to use")->type_name("URL");
  in.add_flag("--no-browser", options->prints_only, "Print the URL, and open no browser");
  in.callback([options, &invocation] {
    log::set_level(log::Level::warning);
    invocation.exit_code = login(*options);
  });
  const auto others = std::make_shared<LoginOptions>();
  add(client, "logout", "End a sign-in, here and at the server", *others).callback([others, &invocation] {
    log::set_level(log::Level::warning);
    invocation.exit_code = logout(*others);
  });
}

}  // namespace proteus::app
